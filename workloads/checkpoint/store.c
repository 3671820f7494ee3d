#include "store.h"

#include "abandon.h"

#include <string.h>
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
    if (trouble_shared(&store->trouble, cube->world))
        fail(EXIT_USAGE, "%s", store->trouble.text);
    store_path(store, cube->group_number, store->path);
}

/* Every rank would remove all of them, since any one may be killed. */
static void register_files(const Store *store)
{
    for (int number = 0; number < store->files; number++) {
        char path[PATH_MAX];
        store_path(store, number, path);
        abandon_add(path);
    }
}

void store_open(Store *store, bool writing)
{
    if (writing && !store->begun)
        register_files(store);
    store->begun = store->begun || writing;
    if (!cube_has_io(store->cube))
        return;
    store->format->open(store, writing);
    store->opened = true;
}

void store_move(Store *store, bool writing, int array, int level, float *slab)
{
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

void store_check(Store *store)
{
    if (!trouble_shared(&store->trouble, store->cube->world))
        return;
    store_close(store);
    if (store->begun)
        store_remove(store);
    fail(EXIT_FAILED, "%s", store->trouble.text);
}
