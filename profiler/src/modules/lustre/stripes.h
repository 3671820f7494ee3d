/* The stripe of a layout to which the bytes of a transfer belong, and the bytes that each stripe has moved
 * so far. Exact: Lustre places byte `at` of a file on stripe (at / stripe size) mod stripe count of the
 * component whose extent holds it, counted from the start of the file in every component. */
#ifndef IOLENS_STRIPES_H
#define IOLENS_STRIPES_H

#include <stdbool.h>
#include <stdint.h>

#include "lustre_layout.h"

/* Bytes read and written. */
struct moved {
    int64_t bytes[2];
};

/* Bytes of [begin, end) that lie on stripe `stripe` of `count`. */
int64_t stripes_share(int64_t begin, int64_t end, int64_t stripe_size, int64_t count, int64_t stripe);

/* Add `bytes` from `offset` on to the stripes of the components, whose `moved` stand in component order.
 * Returns the bytes that no stripe is known for: outside of all components, on a metadata target, or in a
 * file with mirrors, of which any may have been used. */
int64_t stripes_add(const struct lustre_component *component, int64_t components, struct moved *moved,
                    bool writing, int64_t offset, int64_t bytes);

/* All of [offset, offset + bytes) lies in components that are known, or the file has mirrors. */
bool stripes_known(const struct lustre_component *component, int64_t components, int64_t offset,
                   int64_t bytes);

#endif
