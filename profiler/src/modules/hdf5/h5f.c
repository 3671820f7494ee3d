#include "../../files/names.h"
#include "../../files/registry.h"
#include "../timer.h"
#include "hdf5.h"

bool hdf5_path(char path[PATH_BYTES], hid_t object)
{
    const struct hdf5_calls *hdf5 = hdf5_calls();
    char name[PATH_BYTES];
    ssize_t length = hdf5 ? hdf5->H5Fget_name(object, name, sizeof name) : -1;
    if (length <= 0 || length >= PATH_BYTES)
        return false;
    if (is_web_address(name)) {
        web_address_without_secrets(path, PATH_BYTES, name);
        return true;
    }
    if (!path_absolute(path, AT_FDCWD, name))
        return false;
    names_resolve(path);
    return true;
}

static struct h5f_state *state_of(hid_t object)
{
    char path[PATH_BYTES];
    struct file *file = hdf5_path(path, object) ? registry_file(path) : NULL;
    return file ? registry_state(file, MODULE_H5F, -1) : NULL;
}

/* Returns true if a list of access properties opens files through MPI-IO. The number of the MPI-IO driver is
 * a variable in HDF5 2, and is returned by a function in earlier versions. */
bool hdf5_through_mpi(hid_t access)
{
    const struct hdf5_calls *hdf5 = hdf5_calls();
    if (access == HDF5_DEFAULT || !hdf5->H5Pget_driver)
        return false;
    hid_t driver = hdf5->H5Pget_driver(access);
    return hdf5->H5FD_mpio_init   ? driver == hdf5->H5FD_mpio_init()
           : hdf5->H5FD_MPIO_id_g ? driver == *hdf5->H5FD_MPIO_id_g
                                  : false;
}

static void add_meta(struct h5f_state *state, const struct call *c)
{
    timer_add(&state->doubles[H5F_F_META_TIME], &state->last_end, c->t0, c->t1);
}

void hdf5_on_open(const struct call *c, hid_t file, hid_t access)
{
    struct h5f_state *state = state_of(file);
    if (!state)
        return;
    bool mpi = hdf5_through_mpi(access);
    spin_lock(&state->lock);
    state->ints[H5F_OPENS]++;
    state->ints[H5F_USE_MPIIO] |= mpi;
    timer_stamp(&state->doubles[H5F_F_OPEN_START], &state->doubles[H5F_F_OPEN_END], c->t0, c->t1);
    add_meta(state, c);
    spin_unlock(&state->lock);
}

void hdf5_on_flush(const struct call *c, hid_t object)
{
    struct h5f_state *state = state_of(object);
    if (!state)
        return;
    spin_lock(&state->lock);
    state->ints[H5F_FLUSHES]++;
    add_meta(state, c);
    spin_unlock(&state->lock);
}

void hdf5_before_close(struct call *c, hid_t file) { c->taken = state_of(file); }

void hdf5_on_close(const struct call *c)
{
    struct h5f_state *state = c->taken;
    if (!state)
        return;
    spin_lock(&state->lock);
    timer_stamp(&state->doubles[H5F_F_CLOSE_START], &state->doubles[H5F_F_CLOSE_END], c->t0, c->t1);
    add_meta(state, c);
    spin_unlock(&state->lock);
}

#define COUNTERS "profiler/src/modules/hdf5/h5f_counters.def"
#include "../merge_tables.h"

static const struct record_shape SHAPE = {
    .ints = H5F_INTS,
    .doubles = H5F_DOUBLES,
    .int_merge = INT_MERGE,
    .double_merge = DOUBLE_MERGE,
    .top = {SHAPE_NONE, SHAPE_NONE},
    .longest = {{SHAPE_NONE, SHAPE_NONE}, {SHAPE_NONE, SHAPE_NONE}},
    .fastest = SHAPE_NONE,
};

_Static_assert(offsetof(struct h5f_state, lock) == 80,
               "the record in struct h5f_state must have 80 bytes, as Darshan's version 3");

const struct module module_H5F = {
    .id = 3,
    .version = 3,
    .name = "H5F",
    .state_bytes = sizeof(struct h5f_state),
    .shape = &SHAPE,
};
