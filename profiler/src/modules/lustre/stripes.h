/* The stripe of a layout to which the bytes of a transfer belong, and the bytes that each stripe has moved
 * so far. Exact: Lustre places byte `at` of a file on stripe (at / stripe size) mod stripe count of the
 * component whose extent holds it, counted from the start of the file in every component. */
#ifndef IOLENS_STRIPES_H
#define IOLENS_STRIPES_H

#include <stdbool.h>
#include <stdint.h>

#include "lustre_layout.h"

/* Bytes read from and written to one stripe. */
struct moved {
    int64_t bytes[2];
};

/* Returns how many bytes of [begin, end) lie on stripe `stripe` of `count`. */
int64_t stripes_share(int64_t begin, int64_t end, int64_t stripe_size, int64_t count, int64_t stripe);

/* Adds `bytes` from `offset` on to the stripes of the components; `moved` has one entry per stripe, in the
 * order of the components. Returns the bytes whose stripe is unknown: bytes outside all components, on a
 * metadata target, or in a file with mirrors, any of which may have been used. */
int64_t stripes_add(const struct lustre_component *component, int64_t components, struct moved *moved,
                    bool writing, int64_t offset, int64_t bytes);

/* Returns true if all of [offset, offset + bytes) lies in known components, or if the file has mirrors. */
bool stripes_known(const struct lustre_component *component, int64_t components, int64_t offset,
                   int64_t bytes);

#endif
