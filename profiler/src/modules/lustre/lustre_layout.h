/* Decoding of the "lustre.lov" attribute: struct lov_user_md v1 and v3 and the composite layout
 * lov_comp_md_v1 of lustre/include/uapi/linux/lustre/lustre_user.h, all little-endian. Pure functions on
 * bytes. */
#ifndef IOLENS_LUSTRE_LAYOUT_H
#define IOLENS_LUSTRE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LUSTRE_COMPONENT_INTS = 7, LUSTRE_POOL_BYTES = 16 };

/* A component of a layout: a range of the file's bytes with stripes of its own, in the form of Darshan's
 * record. */
struct lustre_component {
    int64_t stripe_size, stripe_count, pattern, flags, extent_start, extent_end, mirror_id;
    char pool[LUSTRE_POOL_BYTES];
};

/* Receives one component and its objects, to be read with lustre_target. */
typedef void lustre_visit(void *context, const struct lustre_component *component,
                          const unsigned char *objects);

/* Returns the index of the storage target that holds object `i` of a component. */
int64_t lustre_target(const unsigned char *objects, int64_t i);

/* Calls `visit` for every component that exists; in a composite layout, for every initialised one. Returns
 * false if the bytes are no layout. */
bool lustre_walk(const unsigned char *bytes, size_t length, lustre_visit *visit, void *context);

bool lustre_is_composite(const unsigned char *bytes, size_t length);

#endif
