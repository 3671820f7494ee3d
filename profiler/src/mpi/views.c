#include <string.h>

#include "files.h"
#include "handles.h"

enum { LEVELS = 3, RUNS_MAX = 65536, DEPTH_MAX = 32 };

/* The bytes that an MPI type selects, as runs in the order of the type. `failed` is true if this kind of type
 * is not decoded, or if it has too many runs. */
struct shape {
    struct iolens_run *run;
    int64_t count, room;
    bool failed;
};

static void take_apart(MPI_Datatype type, int depth, struct shape *shape);

static struct iolens_run *add_run(struct shape *shape)
{
    if (shape->count == shape->room) {
        int64_t room = shape->room ? 2 * shape->room : 8;
        struct iolens_run *grown =
            room <= RUNS_MAX ? heap_resize(shape->run, (size_t)room * sizeof *grown) : NULL;
        shape->failed |= !grown;
        if (!grown)
            return NULL;
        shape->run = grown;
        shape->room = room;
    }
    return &shape->run[shape->count++];
}

static void add(struct shape *shape, struct iolens_run run, int64_t shift)
{
    struct iolens_run *place = add_run(shape);
    run.offset += shift;
    if (place)
        *place = run;
}

/* Appends each run of the other shape, moved by `shift`. */
static void append(struct shape *shape, const struct shape *other, int64_t shift)
{
    shape->failed |= other->failed;
    for (int64_t i = 0; i < other->count && !shape->failed; i++)
        add(shape, other->run[i], shift);
}

static bool is_piece(const struct iolens_run *run)
{
    return run->count[0] == 1 && run->count[1] == 1 && run->count[2] == 1;
}

/* Returns how many levels of repetition a run uses. */
static int levels(const struct iolens_run *run)
{
    int level = LEVELS;
    while (level > 0 && run->count[level - 1] == 1)
        level--;
    return level;
}

/* Turns a run into a group of `times` copies of itself at distances of `stride`; returns false if the run has
 * no free level of repetition. */
static bool group(struct iolens_run *run, int64_t times, int64_t stride)
{
    int level = levels(run);
    if (is_piece(run) && run->bytes == stride)
        run->bytes *= times;
    else if (level > 0 && run->count[level - 1] * run->stride[level - 1] == stride)
        run->count[level - 1] *= times;
    else if (level < LEVELS) {
        run->count[level] = times;
        run->stride[level] = stride;
    } else
        return false;
    return true;
}

/* Repeats all pieces of the shape `times` times at distances of `stride`. */
static void repeat(struct shape *shape, int64_t times, int64_t stride)
{
    int64_t count = shape->count;
    if (times <= 0)
        shape->count = 0;
    for (int64_t i = 0; i < count && times > 1 && !shape->failed; i++)
        if (!group(&shape->run[i], times, stride))
            for (int64_t copy = 1; copy < times && !shape->failed; copy++)
                add(shape, shape->run[i], copy * stride);
}

static int64_t extent_of(MPI_Datatype type)
{
    MPI_Count lower = 0, extent = 0;
    pmpi.Type_get_extent_x(type, &lower, &extent);
    return (int64_t)extent;
}

/* The arguments with which a type was made, from MPI_Type_get_contents. */
struct contents {
    int combiner, integers, addresses, types;
    int *integer;
    MPI_Aint *address;
    MPI_Datatype *type;
};

static bool is_derived(MPI_Datatype type)
{
    int integers, addresses, types, combiner;
    return pmpi.Type_get_envelope(type, &integers, &addresses, &types, &combiner) == MPI_SUCCESS &&
           combiner != MPI_COMBINER_NAMED;
}

static void release_contents(struct contents *contents)
{
    for (int i = 0; i < contents->types; i++)
        if (is_derived(contents->type[i]))
            pmpi.Type_free(&contents->type[i]);
    heap_give_back(contents->integer);
    heap_give_back(contents->address);
    heap_give_back(contents->type);
}

static bool look_into(MPI_Datatype type, struct contents *contents)
{
    contents->integer = heap_take_zeroed((size_t)contents->integers + 1, sizeof *contents->integer);
    contents->address = heap_take_zeroed((size_t)contents->addresses + 1, sizeof *contents->address);
    contents->type = heap_take_zeroed((size_t)contents->types + 1, sizeof *contents->type);
    if (contents->integer && contents->address && contents->type &&
        pmpi.Type_get_contents(type, contents->integers, contents->addresses, contents->types,
                               contents->integer, contents->address, contents->type) == MPI_SUCCESS)
        return true;
    contents->types = 0;
    release_contents(contents);
    return false;
}

/* Adds the blocks of an indexed type, all of the same inner type; `contents` has their lengths and
 * displacements. */
static void add_blocks(const struct contents *contents, const struct shape *inner, int64_t extent,
                       struct shape *shape)
{
    const int *integer = contents->integer;
    bool equal =
        contents->combiner == MPI_COMBINER_INDEXED_BLOCK || contents->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    bool bytes = contents->addresses > 0;
    const int *displacement = integer + (equal ? 2 : 1 + integer[0]);
    for (int block = 0; block < integer[0] && !shape->failed; block++) {
        struct shape one = {0};
        append(&one, inner, 0);
        repeat(&one, equal ? integer[1] : integer[1 + block], extent);
        append(shape, &one, bytes ? contents->address[block] : displacement[block] * extent);
        heap_give_back(one.run);
    }
}

static void add_struct(const struct contents *contents, int depth, struct shape *shape)
{
    for (int block = 0; block < contents->integer[0] && !shape->failed; block++) {
        struct shape one = {0};
        take_apart(contents->type[block], depth, &one);
        repeat(&one, contents->integer[1 + block], extent_of(contents->type[block]));
        append(shape, &one, contents->address[block]);
        heap_give_back(one.run);
    }
}

/* Integers of a subarray: number of dimensions; for each dimension its size, the part's size and the part's
 * begin; the order. */
static void add_subarray(const struct contents *contents, struct shape *inner, int64_t extent,
                         struct shape *shape)
{
    int dimensions = contents->integer[0];
    const int *whole = contents->integer + 1, *part = whole + dimensions, *first = part + dimensions;
    bool fortran = contents->integer[1 + 3 * dimensions] == MPI_ORDER_FORTRAN;
    int64_t stride = extent, shift = 0;
    for (int i = 0; i < dimensions; i++) {
        int dimension = fortran ? i : dimensions - 1 - i;
        repeat(inner, part[dimension], stride);
        shift += first[dimension] * stride;
        stride *= whole[dimension];
    }
    append(shape, inner, shift);
}

static void add_derived(const struct contents *contents, int depth, struct shape *shape)
{
    struct shape inner = {0};
    int64_t extent = extent_of(contents->type[0]);
    const int *integer = contents->integer;
    if (contents->combiner != MPI_COMBINER_STRUCT)
        take_apart(contents->type[0], depth, &inner);
    shape->failed |= inner.failed;
    switch (contents->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        append(shape, &inner, 0);
        break;
    case MPI_COMBINER_CONTIGUOUS:
        repeat(&inner, integer[0], extent);
        append(shape, &inner, 0);
        break;
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
        repeat(&inner, integer[1], extent);
        repeat(&inner, integer[0], contents->addresses ? contents->address[0] : integer[2] * extent);
        append(shape, &inner, 0);
        break;
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
        add_blocks(contents, &inner, extent, shape);
        break;
    case MPI_COMBINER_STRUCT:
        add_struct(contents, depth, shape);
        break;
    case MPI_COMBINER_SUBARRAY:
        add_subarray(contents, &inner, extent, shape);
        break;
    default:
        shape->failed = true;
    }
    heap_give_back(inner.run);
}

static void add_named(MPI_Datatype type, struct shape *shape)
{
    MPI_Count bytes = 0;
    if (pmpi.Type_size_x(type, &bytes) != MPI_SUCCESS || bytes != extent_of(type))
        shape->failed = true; /* A gap inside a pair, such as MPI_DOUBLE_INT has, cannot be described. */
    else if (bytes > 0)
        add(shape, (struct iolens_run){0, (int64_t)bytes, {1, 1, 1}, {0, 0, 0}}, 0);
}

static void take_apart(MPI_Datatype type, int depth, struct shape *shape)
{
    struct contents contents = {0};
    if (depth > DEPTH_MAX || pmpi.Type_get_envelope(type, &contents.integers, &contents.addresses,
                                                    &contents.types, &contents.combiner) != MPI_SUCCESS) {
        shape->failed = true;
        return;
    }
    if (contents.combiner == MPI_COMBINER_NAMED) {
        add_named(type, shape);
        return;
    }
    if (contents.types < 1 || !look_into(type, &contents)) {
        shape->failed = true;
        return;
    }
    add_derived(&contents, depth + 1, shape);
    release_contents(&contents);
}

void views_report(const struct iolens_mpiio_file *file, MPI_Offset displacement, MPI_Datatype filetype,
                  double t0, double t1)
{
    MPI_Count bytes = 0;
    struct shape shape = {0};
    take_apart(filetype, 0, &shape);
    pmpi.Type_size_x(filetype, &bytes);
    struct iolens_view view = {(int64_t)displacement, extent_of(filetype), (int64_t)bytes,
                               shape.failed ? -1 : shape.count, shape.run};
    iolens_mpiio_seen(file, &view, t0, t1);
    heap_give_back(shape.run);
}
