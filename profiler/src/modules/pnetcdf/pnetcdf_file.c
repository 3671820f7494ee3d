#include "../../files/registry.h"
#include "../timer.h"
#include "pnetcdf.h"

static struct ids iolens_netcdfs; /* Open files by their PnetCDF id. */

static void add_meta(struct pnetcdf_file *file, const struct call *c)
{
    timer_add(&file->doubles[PNETCDF_FILE_F_META_TIME], &file->meta_end, c->t0, c->t1);
}

void pnetcdf_on_open(const struct call *c, int nc, enum pnetcdf_file_int counter)
{
    char path[PATH_BYTES];
    struct file *known = pnetcdf_path(path, nc) ? registry_file(path) : NULL;
    struct pnetcdf_file *file = known ? registry_state(known, MODULE_PNETCDF_FILE, -1) : NULL;
    if (!file)
        return;
    spin_lock(&file->lock);
    file->ints[counter]++;
    timer_stamp(&file->doubles[PNETCDF_FILE_F_OPEN_START], &file->doubles[PNETCDF_FILE_F_OPEN_END], c->t0,
                c->t1);
    add_meta(file, c);
    spin_unlock(&file->lock);
    ids_put(&iolens_netcdfs, nc, file);
}

/* Adds the bytes of a file before it is closed: PnetCDF reports how many bytes it moved, including headers,
 * only while the file is open. */
void pnetcdf_before_close(struct call *c, int nc)
{
    const struct pnetcdf_calls *pnetcdf = pnetcdf_calls();
    mpi_offset written = 0, read = 0;
    struct pnetcdf_file *file = ids_take(&iolens_netcdfs, nc);
    if (iolens_paused())
        file = NULL;
    c->taken = file;
    if (!file)
        return;
    bool known = pnetcdf->inq_put_size(nc, &written) == 0 && pnetcdf->inq_get_size(nc, &read) == 0;
    spin_lock(&file->lock);
    file->ints[PNETCDF_FILE_BYTES_WRITTEN] += known ? written : 0;
    file->ints[PNETCDF_FILE_BYTES_READ] += known ? read : 0;
    spin_unlock(&file->lock);
}

void pnetcdf_on_close(const struct call *c, int nc)
{
    struct pnetcdf_file *file = c->taken;
    pnetcdf_close_variables(c, nc);
    if (!file)
        return;
    spin_lock(&file->lock);
    timer_stamp(&file->doubles[PNETCDF_FILE_F_CLOSE_START], &file->doubles[PNETCDF_FILE_F_CLOSE_END], c->t0,
                c->t1);
    add_meta(file, c);
    spin_unlock(&file->lock);
}

void pnetcdf_on_meta(const struct call *c, int nc, enum pnetcdf_file_int counter)
{
    struct pnetcdf_file *file = ids_find(&iolens_netcdfs, nc);
    if (!file)
        return;
    spin_lock(&file->lock);
    if (counter < PNETCDF_FILE_INTS)
        file->ints[counter]++;
    add_meta(file, c);
    spin_unlock(&file->lock);
}

void pnetcdf_on_wait(const struct call *c, int nc, enum pnetcdf_file_int counter)
{
    struct pnetcdf_file *file = ids_find(&iolens_netcdfs, nc);
    if (!file)
        return;
    spin_lock(&file->lock);
    file->ints[counter]++;
    timer_stamp(&file->doubles[PNETCDF_FILE_F_WAIT_START], &file->doubles[PNETCDF_FILE_F_WAIT_END], c->t0,
                c->t1);
    timer_add(&file->doubles[PNETCDF_FILE_F_WAIT_TIME], &file->wait_end, c->t0, c->t1);
    spin_unlock(&file->lock);
}

#define COUNTERS "profiler/src/modules/pnetcdf/pnetcdf_file_counters.def"
#include "../merge_tables.h"

static const struct record_shape SHAPE = {
    .ints = PNETCDF_FILE_INTS,
    .doubles = PNETCDF_FILE_DOUBLES,
    .int_merge = INT_MERGE,
    .double_merge = DOUBLE_MERGE,
    .top = {SHAPE_NONE, SHAPE_NONE},
    .longest = {{SHAPE_NONE, SHAPE_NONE}, {SHAPE_NONE, SHAPE_NONE}},
    .fastest = SHAPE_NONE,
};

_Static_assert(offsetof(struct pnetcdf_file, lock) == 152,
               "the record in struct pnetcdf_file must have 152 bytes, as Darshan's version 3");

static void pnetcdf_file_reset(void) { iolens_netcdfs = (struct ids){.lock.held = ATOMIC_FLAG_INIT}; }

const struct module module_PNETCDF_FILE = {
    .id = 5,
    .version = 3,
    .name = "PNETCDF_FILE",
    .state_bytes = sizeof(struct pnetcdf_file),
    .shape = &SHAPE,
    .reset = pnetcdf_file_reset,
};
