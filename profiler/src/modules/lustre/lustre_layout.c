#include "lustre_layout.h"

#include <string.h>

enum {
    MAGIC_V1 = 0x0BD10BD0,
    MAGIC_V3 = 0x0BD30BD0,
    MAGIC_COMPOSITE = 0x0BD60BD0,
    HEADER_V1 = 32, /* Bytes of magic, pattern, object id (16 bytes), stripe size, stripe count (2),
                       generation (2). */
    HEADER_V3 = 48, /* The same fields as in version 1, followed by the pool's name. */
    OBJECT = 24,    /* Object id (16 bytes), generation, index of the target. */
    COMPOSITE_HEADER = 32,
    COMPOSITE_ENTRY = 48, /* Bytes of id, flags, extent start and end, offset, size, layout generation, time
                             stamp, padding. */
    FLAG_INITIALISED = 0x10,
    MIRROR_SHIFT = 16,
    PATTERN_MDT = 0x100,         /* Value of a pattern: the data lies on the metadata target. */
    PATTERN_OVERSTRIPED = 0x200, /* Value of a pattern: one target may hold several objects of the file. */
    RECORD_MDT = 2, /* The value that a Darshan record has for this pattern, in liblustreapi's numbers. */
    RECORD_OVERSTRIPED = 4
};

static uint64_t field(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

static uint32_t magic_of(const unsigned char *bytes, size_t length)
{
    return length >= 4 ? (uint32_t)field(bytes, 4) : 0;
}

bool lustre_is_composite(const unsigned char *bytes, size_t length)
{
    return magic_of(bytes, length) == MAGIC_COMPOSITE;
}

int64_t lustre_target(const unsigned char *objects, int64_t i)
{
    return (int64_t)field(objects + OBJECT * i + 20, 4);
}

/* Decodes one lov_user_md; flags, extent and mirror of `component` must be filled in. */
static bool visit_plain(const unsigned char *bytes, size_t length, struct lustre_component *component,
                        lustre_visit *visit, void *context)
{
    uint32_t magic = magic_of(bytes, length);
    size_t header = magic == MAGIC_V1 ? HEADER_V1 : magic == MAGIC_V3 ? HEADER_V3 : 0;
    if (header == 0 || length < header)
        return false;
    uint32_t pattern = (uint32_t)field(bytes + 4, 4);
    component->pattern = pattern & PATTERN_MDT           ? RECORD_MDT
                         : pattern & PATTERN_OVERSTRIPED ? RECORD_OVERSTRIPED
                                                         : 0;
    component->stripe_size = (int64_t)field(bytes + 24, 4);
    component->stripe_count = pattern & PATTERN_MDT ? 0 : (int64_t)field(bytes + 28, 2);
    if (magic == MAGIC_V3)
        memcpy(component->pool, bytes + HEADER_V1, LUSTRE_POOL_BYTES - 1);
    if ((size_t)component->stripe_count > (length - header) / OBJECT)
        return false;
    visit(context, component, bytes + header);
    return true;
}

static bool visit_composite(const unsigned char *bytes, size_t length, lustre_visit *visit, void *context)
{
    if (length < COMPOSITE_HEADER)
        return false;
    size_t entries = field(bytes + 14, 2);
    for (size_t i = 0; i < entries; i++) {
        const unsigned char *entry = bytes + COMPOSITE_HEADER + COMPOSITE_ENTRY * i;
        if (COMPOSITE_HEADER + COMPOSITE_ENTRY * (i + 1) > length)
            return false;
        uint32_t flags = (uint32_t)field(entry + 4, 4);
        size_t offset = field(entry + 24, 4), size = field(entry + 28, 4);
        if (!(flags & FLAG_INITIALISED))
            continue;
        struct lustre_component component = {
            .flags = flags,
            .extent_start = (int64_t)field(entry + 8, 8),
            .extent_end = (int64_t)field(entry + 16, 8),
            .mirror_id = (int64_t)(field(entry, 4) >> MIRROR_SHIFT & 0x7fff),
        };
        if (offset > length || size > length - offset ||
            !visit_plain(bytes + offset, size, &component, visit, context))
            return false;
    }
    return true;
}

bool lustre_walk(const unsigned char *bytes, size_t length, lustre_visit *visit, void *context)
{
    struct lustre_component whole_file = {.extent_end = -1};
    if (lustre_is_composite(bytes, length))
        return visit_composite(bytes, length, visit, context);
    return visit_plain(bytes, length, &whole_file, visit, context);
}
