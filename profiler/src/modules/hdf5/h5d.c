#include <stdio.h>

#include "../../files/registry.h"
#include "hdf5.h"

static const struct dataset_layout AT = {
    .bytes = H5D_BYTES_READ,
    .switches = H5D_RW_SWITCHES,
    .longest_bytes = H5D_MAX_READ_TIME_SIZE,
    .sizes_read = H5D_SIZE_READ_AGG_0_100,
    .sizes_written = H5D_SIZE_WRITE_AGG_0_100,
    .open_start = H5D_F_OPEN_START,
    .close_start = H5D_F_CLOSE_START,
    .open_end = H5D_F_OPEN_END,
    .close_end = H5D_F_CLOSE_END,
    .transfer_start = H5D_F_READ_START,
    .transfer_end = H5D_F_READ_END,
    .transfer_time = H5D_F_READ_TIME,
    .longest = H5D_F_MAX_READ_TIME,
    .meta = H5D_F_META_TIME,
};

static struct ids iolens_datasets; /* State of each open dataset by its handle. */

static struct span span_of(const struct call *c) { return (struct span){c->t0, c->t1}; }

/* Returns the record of a dataset, which is named FILE:/PATH/IN/THE/FILE; FILE: stands for all datasets that
 * never had a name. */
static struct file *record_of(hid_t dataset, struct file **file)
{
    char name[PATH_BYTES], path[2 * PATH_BYTES + 1];
    if (!hdf5_path(path, dataset))
        return NULL;
    *file = registry_file(path);
    ssize_t length = hdf5_calls()->H5Iget_name(dataset, name, sizeof name);
    if (!*file || length < 0 || length >= PATH_BYTES)
        return NULL;
    size_t used = strlen(path);
    snprintf(path + used, sizeof path - used, ":%s", length > 0 ? name : "");
    return registry_file(path);
}

static struct h5d_state *state_of(hid_t dataset)
{
    struct file *file, *own = record_of(dataset, &file);
    struct h5d_state *state = own ? registry_state(own, MODULE_H5D, -1) : NULL;
    if (state) {
        state->ints[H5D_FILE_ID] = (int64_t)file->id;
        state->named = own;
    }
    return state;
}

/* Sets the counters of the chunk's sizes, beginning with the dimension that varies fastest. */
static void describe_chunks(int64_t *ints, hid_t dataset)
{
    const struct hdf5_calls *hdf5 = hdf5_calls();
    hsize_t sizes[HDF5_RANK_MOST] = {0};
    hid_t list = hdf5->H5Dget_create_plist(dataset);
    if (list < 0)
        return;
    int rank =
        hdf5->H5Pget_layout(list) == HDF5_CHUNKED ? hdf5->H5Pget_chunk(list, HDF5_RANK_MOST, sizes) : 0;
    for (int d = 0; d < rank && d < PATTERN_DIMENSIONS; d++)
        ints[H5D_CHUNK_SIZE_D1 + d] = (int64_t)sizes[rank - 1 - d];
    hdf5->H5Pclose(list);
}

/* Returns the number of points of a dataset now; it may have grown since it was opened. */
static int64_t points_of(hid_t dataset)
{
    const struct hdf5_calls *hdf5 = hdf5_calls();
    hid_t space = hdf5->H5Dget_space(dataset);
    int64_t points = space >= 0 ? hdf5->H5Sget_simple_extent_npoints(space) : 0;
    if (space >= 0)
        hdf5->H5Sclose(space);
    return points;
}

static void describe(int64_t *ints, hid_t dataset)
{
    const struct hdf5_calls *hdf5 = hdf5_calls();
    hid_t space = hdf5->H5Dget_space(dataset), type = hdf5->H5Dget_type(dataset);
    if (space >= 0) {
        ints[H5D_DATASPACE_NDIMS] = hdf5->H5Sget_simple_extent_ndims(space);
        ints[H5D_DATASPACE_NPOINTS] = hdf5->H5Sget_simple_extent_npoints(space);
        hdf5->H5Sclose(space);
    }
    if (type >= 0) {
        ints[H5D_DATATYPE_SIZE] = (int64_t)hdf5->H5Tget_size(type);
        hdf5->H5Tclose(type);
    }
    describe_chunks(ints, dataset);
}

static void open_dataset(const struct call *c, hid_t dataset, struct h5d_state *state, bool deprecated)
{
    int64_t found[H5D_INTS] = {0};
    if (!state)
        return;
    describe(found, dataset);
    spin_lock(&state->dataset.lock);
    state->ints[H5D_OPENS]++;
    state->ints[H5D_USE_DEPRECATED] |= deprecated;
    for (int i = H5D_DATASPACE_NDIMS; i <= H5D_CHUNK_SIZE_D5; i++)
        state->ints[i] = found[i];
    dataset_opened(&state->dataset, &AT, state->doubles, span_of(c));
    spin_unlock(&state->dataset.lock);
    ids_put(&iolens_datasets, hdf5_key(dataset), state);
}

void hdf5_on_dataset(const struct call *c, hid_t dataset, bool deprecated)
{
    if (hdf5_calls())
        open_dataset(c, dataset, state_of(dataset), deprecated);
}

void hdf5_on_nameless(const struct call *c, hid_t dataset)
{
    struct h5d_state *state = hdf5_calls() ? registry_spare(MODULE_H5D) : NULL;
    if (state)
        state->nameless = true;
    open_dataset(c, dataset, state, false);
}

void hdf5_on_object(const struct call *c, hid_t object)
{
    if (hdf5_calls() && hdf5_calls()->H5Iget_type(object) == HDF5_DATASET)
        hdf5_on_dataset(c, object, false);
}

enum selection { ALL, POINTS, REGULAR, IRREGULAR };

/* Returns the number of points that a transfer moves, and sets `*kind` to the kind of their selection. The
 * lengths and strides of a regular hyperslab go to `pattern`, beginning with the fastest dimension. */
static int64_t selected(hid_t dataset, hid_t space, struct pattern *pattern, enum selection *kind)
{
    const struct hdf5_calls *hdf5 = hdf5_calls();
    hsize_t start[HDF5_RANK_MOST], stride[HDF5_RANK_MOST], count[HDF5_RANK_MOST], block[HDF5_RANK_MOST];
    *kind = ALL;
    if (space == HDF5_DEFAULT)
        return points_of(dataset);
    int type = hdf5->H5Sget_select_type(space);
    if (type == HDF5_POINTS)
        *kind = POINTS;
    else if (type == HDF5_HYPERSLABS)
        *kind = hdf5->H5Sis_regular_hyperslab(space) > 0 ? REGULAR : IRREGULAR;
    int rank = hdf5->H5Sget_simple_extent_ndims(space);
    if (*kind == REGULAR && rank <= HDF5_RANK_MOST &&
        hdf5->H5Sget_regular_hyperslab(space, start, stride, count, block) >= 0)
        for (int d = 0; d < rank && d < PATTERN_DIMENSIONS; d++) {
            pattern->words[1 + d] = (int64_t)(count[rank - 1 - d] * block[rank - 1 - d]);
            pattern->words[1 + PATTERN_DIMENSIONS + d] = (int64_t)stride[rank - 1 - d];
        }
    int64_t points = hdf5->H5Sget_select_npoints(space);
    return points > 0 ? points : 0;
}

static bool collective(hid_t transfer)
{
    const struct hdf5_calls *hdf5 = hdf5_calls();
    int mode = 0;
    return transfer != HDF5_DEFAULT && hdf5->H5Pget_dxpl_mpio &&
           hdf5->H5Pget_dxpl_mpio(transfer, &mode) >= 0 && mode == HDF5_COLLECTIVE;
}

void hdf5_on_transfer(const struct call *c, hid_t dataset, hid_t space, hid_t transfer, bool writing)
{
    static const int COUNTER[] = {[POINTS] = H5D_POINT_SELECTS,
                                  [REGULAR] = H5D_REGULAR_HYPERSLAB_SELECTS,
                                  [IRREGULAR] = H5D_IRREGULAR_HYPERSLAB_SELECTS};
    struct h5d_state *state = ids_find(&iolens_datasets, hdf5_key(dataset));
    struct pattern pattern = {0};
    enum selection kind;
    if (!state)
        return;
    int64_t points = selected(dataset, space, &pattern, &kind);
    bool together = collective(transfer);
    if (together)
        hdf5_on_collective(c, state->named, transfer);
    spin_lock(&state->dataset.lock);
    pattern.words[0] = points * state->ints[H5D_DATATYPE_SIZE];
    state->ints[H5D_READS + writing]++;
    if (kind != ALL)
        state->ints[COUNTER[kind]]++;
    state->ints[H5D_USE_MPIIO_COLLECTIVE] |= together;
    dataset_moved(&state->dataset, &AT, state->ints, state->doubles, writing, &pattern, span_of(c));
    spin_unlock(&state->dataset.lock);
}

/* Returns the bytes that a transfer of this dataset moves; 0 if the dataset has no record. */
static int64_t bytes_of(hid_t dataset, hid_t space)
{
    struct h5d_state *state = ids_find(&iolens_datasets, hdf5_key(dataset));
    struct pattern pattern = {0};
    enum selection kind;
    if (!state)
        return 0;
    int64_t points = selected(dataset, space, &pattern, &kind);
    spin_lock(&state->dataset.lock);
    int64_t bytes = points * state->ints[H5D_DATATYPE_SIZE];
    spin_unlock(&state->dataset.lock);
    return bytes;
}

void hdf5_on_transfers(const struct call *c, struct datasets all, hid_t transfer, bool writing)
{
    int64_t bytes = 0, before = 0;
    for (size_t i = 0; i < all.count; i++)
        bytes += bytes_of(all.dataset[i], all.selection[i]);
    double per_byte = bytes > 0 ? (c->t1 - c->t0) / (double)bytes : 0;
    for (size_t i = 0; i < all.count; i++) {
        struct call part = *c;
        part.t0 = c->t0 + per_byte * (double)before;
        before += bytes_of(all.dataset[i], all.selection[i]);
        part.t1 = c->t0 + per_byte * (double)before;
        hdf5_on_transfer(&part, all.dataset[i], all.selection[i], transfer, writing);
    }
}

void hdf5_on_dataset_flush(const struct call *c, hid_t dataset)
{
    struct h5d_state *state = ids_find(&iolens_datasets, hdf5_key(dataset));
    if (!state)
        return;
    spin_lock(&state->dataset.lock);
    state->ints[H5D_FLUSHES]++;
    dataset_meta(&state->dataset, &AT, state->doubles, span_of(c));
    spin_unlock(&state->dataset.lock);
}

static bool h5d_validate(const void *state, const struct area *area)
{
    const struct patterns *patterns = &((const struct h5d_state *)state)->dataset.patterns;
    (void)area;
    return patterns->used >= 0 && patterns->used <= PATTERNS_KEPT;
}

static void h5d_keep(const void *state, int list, struct kept_values *kept)
{
    (void)list;
    patterns_keep(&((const struct h5d_state *)state)->dataset.patterns, kept);
}

static void h5d_finish(const void *state, void *record)
{
    const struct h5d_state *s = state;
    patterns_top(&s->dataset.patterns, shape_ints(record) + H5D_ACCESS1_ACCESS);
}

#define COUNTERS "profiler/src/modules/hdf5/h5d_counters.def"
#include "../merge_tables.h"

static const struct record_shape SHAPE = {
    .ints = H5D_INTS,
    .doubles = H5D_DOUBLES,
    .int_merge = INT_MERGE,
    .double_merge = DOUBLE_MERGE,
    .top = {SHAPE_NONE, SHAPE_NONE},
    .longest = {{H5D_F_MAX_READ_TIME, H5D_MAX_READ_TIME_SIZE},
                {H5D_F_MAX_WRITE_TIME, H5D_MAX_WRITE_TIME_SIZE}},
    .patterns = H5D_ACCESS1_ACCESS,
    .fastest = H5D_FASTEST_RANK,
    .fastest_seconds = H5D_F_FASTEST_RANK_TIME,
    .seconds = {H5D_F_READ_TIME, H5D_F_WRITE_TIME, H5D_F_META_TIME},
    .bytes = {H5D_BYTES_READ, H5D_BYTES_WRITTEN},
};

/* Turns the record of a nameless dataset into the record of its name, or adds it to the existing one. */
static struct h5d_state *give_name(struct h5d_state *state, hid_t dataset)
{
    struct file *file, *own = record_of(dataset, &file);
    struct h5d_state *there = own ? registry_install(own, MODULE_H5D, state) : NULL;
    state->nameless = !own;
    if (!there)
        return state;
    state->ints[H5D_FILE_ID] = (int64_t)file->id;
    state->named = own;
    if (there == state)
        return state;
    spin_lock(&there->dataset.lock);
    shape_merge(&SHAPE, state, there);
    patterns_join(&state->dataset.patterns, &there->dataset.patterns);
    spin_unlock(&there->dataset.lock);
    return there;
}

void hdf5_on_link(hid_t object)
{
    struct h5d_state *state = ids_find(&iolens_datasets, hdf5_key(object));
    if (state && state->nameless)
        ids_put(&iolens_datasets, hdf5_key(object), give_name(state, object));
}

void hdf5_before_dataset_close(struct call *c, hid_t object)
{
    struct h5d_state *state = ids_take(&iolens_datasets, hdf5_key(object));
    state = state && state->nameless ? give_name(state, object) : state;
    c->taken = iolens_paused() ? NULL : state;
}

void hdf5_on_dataset_close(const struct call *c, hid_t object)
{
    struct h5d_state *state = c->taken;
    if (!state)
        return;
    spin_lock(&state->dataset.lock);
    dataset_closed(&state->dataset, &AT, state->doubles, span_of(c));
    spin_unlock(&state->dataset.lock);
    if (hdf5_calls()->H5Iis_valid(object) > 0)
        ids_put(&iolens_datasets, hdf5_key(object), state);
}

_Static_assert(offsetof(struct h5d_state, dataset) == 912,
               "the record in struct h5d_state must have 912 bytes, as Darshan's version 2");

static void h5d_reset(void) { iolens_datasets = (struct ids){.lock.held = ATOMIC_FLAG_INIT}; }

const struct module module_H5D = {
    .id = 4,
    .version = 2,
    .name = "H5D",
    .state_bytes = sizeof(struct h5d_state),
    .shape = &SHAPE,
    .reset = h5d_reset,
    .validate = h5d_validate,
    .finish = h5d_finish,
    .keep = h5d_keep,
};
