#include "lustre.h"

#include <sys/xattr.h>

#include "../../files/registry.h"
#include "../../memory/area.h"
#include "../../runtime/context.h"
#include "../../tables/process_table.h"

/* The stripe of a layout to which the bytes of a transfer belong, and the bytes that each stripe has moved
 * so far. Exact: Lustre places byte `at` of a file on stripe (at / stripe size) mod stripe count of the
 * component whose extent holds it, counted from the start of the file in every component. */

/* Decoding of the "lustre.lov" attribute: struct lov_user_md v1 and v3 and the composite layout
 * lov_comp_md_v1 of lustre/include/uapi/linux/lustre/lustre_user.h, all little-endian. Pure functions on
 * bytes. */

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

/* Bytes read from and written to one stripe. */
struct moved {
    int64_t bytes[2];
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Returns how many bytes of [0, end) lie on one stripe: the bytes of all complete rounds over the stripes,
 * plus the stripe's part of the last round. */
static int64_t share_below(int64_t end, int64_t stripe_size, int64_t count, int64_t stripe)
{
    int64_t round = stripe_size * count, rest = end % round - stripe * stripe_size;
    return end / round * stripe_size + (rest < 0 ? 0 : least(rest, stripe_size));
}

/* Returns how many bytes of [begin, end) lie on stripe `stripe` of `count`. */
static int64_t stripes_share(int64_t begin, int64_t end, int64_t stripe_size, int64_t count, int64_t stripe)
{
    return share_below(end, stripe_size, count, stripe) - share_below(begin, stripe_size, count, stripe);
}

static void add(const struct lustre_component *component, struct moved *moved, bool writing, int64_t begin,
                int64_t end)
{
    int64_t size = component->stripe_size, count = component->stripe_count;
    int64_t first = begin / size, touched = least((end - 1) / size - first + 1, count);
    for (int64_t i = 0; i < touched; i++) {
        int64_t stripe = (first + i) % count;
        moved[stripe].bytes[writing] +=
            touched == 1 ? end - begin : stripes_share(begin, end, size, count, stripe);
    }
}

/* Returns how many bytes of [begin, end) lie in the extent of a component, and sets `*from` to the first of
 * them; an extent end of -1 means the end of the file. */
static int64_t overlap(const struct lustre_component *component, int64_t begin, int64_t end, int64_t *from)
{
    int64_t last = component->extent_end < 0 ? INT64_MAX : component->extent_end;
    *from = component->extent_start > begin ? component->extent_start : begin;
    int64_t bytes = least(last, end) - *from;
    return bytes > 0 ? bytes : 0;
}

static bool has_mirrors(const struct lustre_component *component, int64_t components)
{
    for (int64_t i = 1; i < components; i++)
        if (component[i].mirror_id != component[0].mirror_id)
            return true;
    return false;
}

/* Returns true if all of [offset, offset + bytes) lies in known components, or if the file has mirrors. */
static bool stripes_known(const struct lustre_component *component, int64_t components, int64_t offset,
                          int64_t bytes)
{
    int64_t known = 0, from;
    for (int64_t i = 0; i < components; i++)
        known += overlap(&component[i], offset, offset + bytes, &from);
    return known >= bytes || has_mirrors(component, components);
}

/* Adds `bytes` from `offset` on to the stripes of the components; `moved` has one entry per stripe, in the
 * order of the components. Returns the bytes whose stripe is unknown: bytes outside all components, on a
 * metadata target, or in a file with mirrors, any of which may have been used. */
static int64_t stripes_add(const struct lustre_component *component, int64_t components, struct moved *moved,
                           bool writing, int64_t offset, int64_t bytes)
{
    int64_t left = bytes;
    if (has_mirrors(component, components))
        return left;
    for (int64_t i = 0; i < components; moved += component[i++].stripe_count) {
        int64_t from, here = overlap(&component[i], offset, offset + bytes, &from);
        if (here == 0 || component[i].stripe_count <= 0 || component[i].stripe_size <= 0)
            continue;
        add(&component[i], moved, writing, from, from + here);
        left -= here;
    }
    return left;
}

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

static bool lustre_is_composite(const unsigned char *bytes, size_t length)
{
    return magic_of(bytes, length) == MAGIC_COMPOSITE;
}

/* Returns the index of the storage target that holds object `i` of a component. */
static int64_t lustre_target(const unsigned char *objects, int64_t i)
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

/* Calls `visit` for every component that exists; in a composite layout, for every initialised one. Returns
 * false if the bytes are no layout. */
static bool lustre_walk(const unsigned char *bytes, size_t length, lustre_visit *visit, void *context)
{
    struct lustre_component whole_file = {.extent_end = -1};
    if (lustre_is_composite(bytes, length))
        return visit_composite(bytes, length, visit, context);
    return visit_plain(bytes, length, &whole_file, visit, context);
}

enum { USUAL_BYTES = 2048, LARGEST_BYTES = 65536, MOST_IN_VAIN = 16 };

struct lustre_state {
    struct spin lock;
    bool composite;
    int in_vain; /* Number of times that the layout was read again and had not changed, after transfers
                    outside the known components. */
    struct file *file;
    int64_t components, targets;
    struct lustre_component *component; /* Array of `components` entries in the arena. */
    int64_t *target;                    /* Array of `targets` entries, in component order. */
    struct moved *moved;                /* Array of `targets` entries, in component order. */
    struct moved elsewhere;             /* Bytes whose stripe is unknown. */
};

/* Arrays that are filled while a layout is read: a first pass only counts the entries, a second pass fills
 * the arrays. */
struct filling {
    int64_t components, targets, first_stripe_size;
    struct lustre_component *component;
    int64_t *target;
};

static void collect(void *context, const struct lustre_component *component, const unsigned char *objects)
{
    struct filling *f = context;
    if (f->component) {
        f->component[f->components] = *component;
        for (int64_t i = 0; i < component->stripe_count; i++)
            f->target[f->targets + i] = lustre_target(objects, i);
    }
    if (f->components++ == 0)
        f->first_stripe_size = component->stripe_size;
    f->targets += component->stripe_count;
}

/* Copies the counts of components that were known before: those that begin at the same byte of the same
 * mirror. */
static void keep_counts(const struct lustre_state *state, const struct filling *fill, struct moved *moved)
{
    const struct moved *before = state->moved;
    for (int64_t i = 0; i < state->components; before += state->component[i++].stripe_count) {
        const struct lustre_component *old = &state->component[i], *new = fill->component;
        struct moved *to = moved;
        for (; new < fill->component + fill->components; to += new ++->stripe_count)
            if (new->extent_start == old->extent_start &&new->mirror_id ==
                old->mirror_id &&new->stripe_count == old->stripe_count)
                memcpy(to, before, (size_t)old->stripe_count * sizeof *to);
    }
}

static bool store(struct lustre_state *state, const unsigned char *bytes, size_t length,
                  struct filling *count)
{
    struct filling fill = {0};
    fill.component = arena_alloc(&iolens.arena, (size_t)count->components * sizeof *fill.component);
    fill.target = arena_alloc(&iolens.arena, (size_t)count->targets * sizeof *fill.target + 1);
    struct moved *moved = arena_alloc(&iolens.arena, (size_t)count->targets * sizeof *moved + 1);
    if (!fill.component || !fill.target || !moved)
        return false;
    lustre_walk(bytes, length, collect, &fill);
    spin_lock(&state->lock);
    keep_counts(state, &fill, moved);
    state->components = fill.components;
    state->targets = fill.targets;
    state->component = fill.component;
    state->target = fill.target;
    state->moved = moved;
    state->composite = lustre_is_composite(bytes, length);
    spin_unlock(&state->lock);
    return true;
}

static int64_t note(struct file *file, const unsigned char *bytes, size_t length)
{
    struct filling count = {0};
    if (!lustre_walk(bytes, length, collect, &count) || count.components == 0)
        return 0;
    struct lustre_state *state = registry_state(file, MODULE_LUSTRE, -1);
    lustre_client_begin();
    if (state && count.components != state->components && !store(state, bytes, length, &count))
        registry_leave_out(1u << MODULE_LUSTRE);
    return count.first_stripe_size;
}

/* Reads a file's layout into its record; returns the stripe size, or 0 if the file has no layout. The rare
 * large layout is read into separately mapped pages, because the stack of a thread may be small. */
static int64_t look(struct file *file, int fd)
{
    unsigned char usual[USUAL_BYTES];
    ssize_t length = fgetxattr(fd, "lustre.lov", usual, sizeof usual);
    if (length > 0)
        return note(file, usual, (size_t)length);
    if (length < 0 && errno == EOPNOTSUPP)
        file->unstriped = true;
    unsigned char *large = length < 0 && errno == ERANGE ? pages_alloc(LARGEST_BYTES) : NULL;
    if (!large)
        return 0;
    length = fgetxattr(fd, "lustre.lov", large, LARGEST_BYTES);
    int64_t stripe_size = length > 0 ? note(file, large, (size_t)length) : 0;
    pages_free(large, LARGEST_BYTES);
    return stripe_size;
}

int64_t lustre_on_open(struct file *file, int fd)
{
    struct lustre_state *known = file->state[MODULE_LUSTRE];
    int64_t stripe_size = 0;
    if (known) {
        spin_lock(&known->lock);
        stripe_size = known->components > 0 ? known->component[0].stripe_size : 0;
        spin_unlock(&known->lock);
    }
    return stripe_size || file->unstriped ? stripe_size : look(file, fd);
}

void lustre_on_close(struct file *file, int fd)
{
    const struct lustre_state *known = file->state[MODULE_LUSTRE];
    if (known && known->composite)
        look(file, fd);
}

void lustre_on_transfer(struct lustre_state *state, int fd, bool writing, int64_t offset, int64_t bytes)
{
    if (bytes <= 0)
        return;
    spin_lock(&state->lock);
    if (state->composite && fd >= 0 && state->in_vain < MOST_IN_VAIN &&
        !stripes_known(state->component, state->components, offset, bytes)) {
        spin_unlock(&state->lock);
        look(state->file, fd);
        spin_lock(&state->lock);
        state->in_vain += !stripes_known(state->component, state->components, offset, bytes);
    }
    state->elsewhere.bytes[writing] +=
        stripes_add(state->component, state->components, state->moved, writing, offset, bytes);
    spin_unlock(&state->lock);
}

static void lustre_init(void *state, struct file *file, int fd)
{
    (void)fd;
    ((struct lustre_state *)state)->file = file;
}

/* Writes the record of a file's layout to `buffer` (unless it is NULL), and returns the record's bytes. The
 * record has id, rank, numbers of components and targets, then the components, then the targets' indices. */
static size_t lustre_serialize(const void *state, const struct file *file, int64_t rank, void *buffer)
{
    const struct lustre_state *s = state;
    const int64_t head[4] = {(int64_t)file->id, rank, s->components, s->targets};
    size_t components = (size_t)s->components * sizeof *s->component;
    size_t targets = (size_t)s->targets * sizeof *s->target;
    if (buffer) {
        memcpy(buffer, head, sizeof head);
        if (components > 0)
            memcpy((char *)buffer + sizeof head, s->component, components);
        if (targets > 0)
            memcpy((char *)buffer + sizeof head + components, s->target, targets);
    }
    return sizeof head + components + targets;
}

/* Returns true if the stripes of all components add up to the number of targets in the record. */
static bool stripes_fit(const struct lustre_state *s)
{
    int64_t left = s->targets;
    for (int64_t i = 0; i < s->components; i++) {
        int64_t stripes = s->component[i].stripe_count;
        if (stripes < 0 || stripes > left)
            return false;
        left -= stripes;
    }
    return left == 0;
}

static bool lustre_validate(const void *state, const struct area *area)
{
    const struct lustre_state *s = state;
    return (s->components == 0 && s->targets == 0) ||
           (area_holds(area, s->component, sizeof *s->component, (size_t)s->components) &&
            area_holds(area, s->target, sizeof *s->target, (size_t)s->targets) &&
            area_holds(area, s->moved, sizeof *s->moved, (size_t)s->targets) && stripes_fit(s));
}

struct row {
    uint64_t file;
    int64_t rank, component, stripe, ost, bytes_read, bytes_written;
};

static const struct column COLUMNS[] = {
    COLUMN(file, "<u8", "record id", "the file, by its id in the name region"),
    COLUMN(rank, "<i8", "rank", "the rank to which these numbers belong"),
    COLUMN(component, "<i8", "",
           "number of the layout's component, from 0; -1: bytes whose stripe is not known"),
    COLUMN(stripe, "<i8", "", "number of the stripe in its component, from 0"),
    COLUMN(ost, "<i8", "", "index of the object storage target that holds the stripe"),
    COLUMN(bytes_read, "<i8", "B", "bytes read through POSIX and stdio"),
    COLUMN(bytes_written, "<i8", "B", "bytes written through POSIX and stdio"),
};

static void add_row(struct buffer *rows, struct row row, const struct moved *moved)
{
    row.bytes_read = moved->bytes[0];
    row.bytes_written = moved->bytes[1];
    if (row.bytes_read || row.bytes_written)
        buffer_put(rows, &row, sizeof row);
}

static void add_rows(struct buffer *rows, const struct lustre_state *s, struct row row)
{
    int64_t at = 0;
    for (row.component = 0; row.component < s->components; row.component++)
        for (row.stripe = 0; row.stripe < s->component[row.component].stripe_count; row.stripe++, at++) {
            row.ost = s->target[at];
            add_row(rows, row, &s->moved[at]);
        }
    row.component = row.stripe = row.ost = -1;
    add_row(rows, row, &s->elsewhere);
}

static void collect_rows(const struct iolens_transport *transport, struct buffer *rows)
{
    for (struct file *file = registry_first(MODULE_LUSTRE); file; file = registry_next(file, MODULE_LUSTRE))
        add_rows(rows, file->state[MODULE_LUSTRE], (struct row){.file = file->id, .rank = transport->rank});
}

const struct process_table table_ost_bytes = {
    .name = "ost_bytes",
    .meaning =
        "Bytes that a rank moved to and from a stripe of a file with a layout, counted at each transfer",
    TABLE_ROWS(COLUMNS),
    .merging.collect = collect_rows,
};

const struct module module_LUSTRE = {
    .id = 8,
    .version = 2,
    .name = "LUSTRE",
    .state_bytes = sizeof(struct lustre_state),
    .init = lustre_init,
    .validate = lustre_validate,
    .serialize = lustre_serialize,
};
