#include "store.h"

#include <errno.h>
#include <math.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

void store_path(const Store *store, int number, char path[PATH_MAX])
{
    char own[16] = "";
    if (store->problem->split)
        snprintf(own, sizeof own, "_%03d", number);
    snprintf(path, PATH_MAX, "%s/checkpoint%s.%s", store->directory, own, store->format->suffix);
}

void store_make(Store *store, const Config *config, const Cube *cube)
{
    const Problem *problem = &config->problem;
    *store = (Store){
        .format = problem->binary ? &FORMAT_BINARY : &FORMAT_NETCDF,
        .directory = config->directory,
        .problem = problem,
        .cube = cube,
        .info = hints_info(&config->hints),
        .collective = config->collective,
        .files = problem->split ? problem->io_ranks : 1,
        .latitudes = cube->group_latitudes,
        .file_latitudes = cube->latitudes,
        .levels = problem->whole ? problem->lm : 1,
        .id = -1,
    };
    if (problem->split) {
        store->latitudes.first = 0;
        store->file_latitudes = cube->group_latitudes.size;
    }
    if (strlen(config->directory) > PATH_MAX - 64)
        trouble_note(&store->trouble, "--directory: the path is too long");
    fail_if_trouble(EXIT_USAGE, &store->trouble, cube->world);
    store_path(store, cube->group_number, store->path);
}

/* Names the files that are to be removed if a signal ends the run. Every rank names the files of all ranks,
 * because the signal may reach any of them. */
static void register_files(const Store *store)
{
    for (int number = 0; number < store->files; number++) {
        char path[PATH_MAX];
        store_path(store, number, path);
        abandon_add(path);
    }
}

/* Returns the free bytes, including those of files that will be overwritten. */
static double room_for(const Store *store)
{
    struct statvfs there;
    struct stat old;
    if (statvfs(store->directory, &there) != 0)
        return INFINITY;
    double room = (double)there.f_bavail * (double)there.f_frsize;
    for (int number = 0; number < store->files; number++) {
        char path[PATH_MAX];
        store_path(store, number, path);
        if (stat(path, &old) == 0)
            room += 512.0 * (double)old.st_blocks;
    }
    return room;
}

/* Checks that there is room for the files. Must be called before the first write: in HDF5 1.10 and ROMIO,
 * writers may wait for ever for a writer that found no room. */
static void check_room(Store *store)
{
    const Cube *cube = store->cube;
    const double needed =
        (double)store->problem->arrays * cube->levels * cube->latitudes * cube->edge * sizeof(float);
    struct rlimit limit;
    double room = room_for(store), file = needed / store->files;
    if (needed > room)
        trouble_note(&store->trouble, "%.0f bytes do not fit into %s, where %.0f are free", needed,
                     store->directory, room);
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        file > (double)limit.rlim_cur)
        trouble_note(&store->trouble, "a file of %.0f bytes is above the limit of %.0f (ulimit -f)", file,
                     (double)limit.rlim_cur);
}

void store_ready(Store *store, bool writing)
{
    if (!writing || store->begun)
        return;
    if (store->cube->rank == 0)
        check_room(store);
    fail_if_trouble(EXIT_FAILED, &store->trouble, store->cube->world);
    register_files(store);
    store->begun = true;
}

void store_open(Store *store, bool writing)
{
    store->writing = writing;
    if (!cube_has_io(store->cube))
        return;
    store->format->open(store, writing);
    store->opened = true;
}

void store_move(Store *store, bool writing, int array, int level, float *slab)
{
    if (store->trouble.any)
        return;
    store->format->move(store, writing, array, level, slab);
    store->calls++;
}

void store_close(Store *store)
{
    if (store->opened)
        store->format->close(store);
    store->opened = false;
}

void store_remove(Store *store)
{
    MPI_Barrier(store->cube->world);
    if (cube_has_io(store->cube) && (store->problem->split || store->cube->rank == 0))
        unlink(store->path);
}

void store_abandon(const Store *store)
{
    /* If several writers failed, only the one that removed the file prints the reason. */
    if (unlink(store->path) == 0 || errno != ENOENT)
        fail_alone("%s", store->trouble.text);
    for (;;)
        pause();
}

/* Aborts the job after HDF5 failed to write its data, because then neither closing the file nor MPI_Finalize
 * returns. */
_Noreturn static void abort_together(const Store *store)
{
    MPI_Barrier(store->cube->world);
    if (store->cube->rank == 0)
        fail_alone("%s", store->trouble.text);
    for (;;)
        pause();
}

void store_check(Store *store)
{
    if (!trouble_shared(&store->trouble, store->cube->world))
        return;
    if (store->begun)
        store_remove(store);
    if (store->writing && !store->format->ends_well)
        abort_together(store);
    store_close(store);
    fail(EXIT_FAILED, "%s", store->trouble.text);
}
