#include "store.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fail.h"

const char METHOD_NAMES[] = "full simple epio fortran none";

static const Method METHOD_NONE = {.name = "none"};
static const Method *const METHODS[] = {&METHOD_FULL, &METHOD_SIMPLE, &METHOD_EPIO, &METHOD_FORTRAN,
                                        &METHOD_NONE};

const Method *method_named(const char *name)
{
    for (size_t i = 0; i < sizeof METHODS / sizeof METHODS[0]; i++)
        if (strcmp(METHODS[i]->name, name) == 0)
            return METHODS[i];
    return NULL;
}

void store_make(Store *store, const Config *config, const Domain *domain)
{
    *store = (Store){
        .method = config_lustre_like(config) ? &METHOD_TWO_PHASE : method_named(config->method),
        .domain = domain,
        .info = hints_info(&config->hints),
        .hints = &config->hints,
        .flush = config->fsync,
        .borrowed = config->verify_only,
        .file = MPI_FILE_NULL,
        .descriptor = -1,
    };
    if (store->method->open == NULL)
        return;
    char own[16] = "";
    if (store->method->own_file)
        snprintf(own, sizeof own, ".%04d", domain->rank);
    int length =
        snprintf(store->path, sizeof store->path, "%s/btio.%s.out%s", config->directory, config->method, own);
    if (length >= (int)sizeof store->path)
        trouble_note(&store->trouble, "--directory: the path is too long");
    if (domain->points > INT_MAX)
        trouble_note(&store->trouble, "%lld grid points on a rank: MPI-IO takes at most %d; use more ranks",
                     domain->points, INT_MAX);
    fail_if_trouble(EXIT_USAGE, &store->trouble, domain->comm);
    store->buffer = allocate(domain->points, POINT_BYTES);
}

static void remove_file(const Store *store)
{
    if (store->method->own_file || store->domain->rank == 0)
        unlink(store->path);
}

void store_create(Store *store)
{
    remove_file(store);
    MPI_Barrier(store->domain->comm);
    store->calls = 0;
    store->method->open(store, true);
    store_check(store);
}

/* Checks the file's size first, because some MPI libraries read past the end of a file without an error. */
static void check_size(Store *store, int dumps)
{
    const Domain *domain = store->domain;
    struct stat found;
    long long points = (long long)domain->grid[0] * domain->grid[1] * domain->grid[2];
    long long dump_bytes = points * POINT_BYTES;
    if (store->method->own_file)
        dump_bytes = domain->points * POINT_BYTES + domain->edge * EPIO_RECORD_EXTRA;
    if (stat(store->path, &found) != 0)
        trouble_note(&store->trouble, "cannot read %s: %s", store->path, strerror(errno));
    else if (found.st_size < dumps * dump_bytes)
        trouble_note(&store->trouble, "%s has %lld bytes; %d dumps are %lld", store->path,
                     (long long)found.st_size, dumps, dumps * dump_bytes);
}

void store_reopen(Store *store, int dumps)
{
    store->calls = 0;
    store->flush = false;
    check_size(store, dumps);
    store_check(store);
    store->method->open(store, false);
    store_check(store);
}

void store_close(Store *store) { store->method->close(store); }

void store_remove(Store *store)
{
    MPI_Barrier(store->domain->comm);
    if (!store->borrowed)
        remove_file(store);
}

void store_check(Store *store)
{
    if (!trouble_shared(&store->trouble, store->domain->comm))
        return;
    store_remove(store);
    fail(EXIT_FAILED, "%s", store->trouble.text);
}

void store_pack(Store *store, double shift)
{
    double *to = store->buffer;
    for (int c = 0; c < store->domain->edge; c++) {
        const Cell *cell = &store->domain->cells[c];
        for (int z = 0; z < cell->size[2]; z++)
            for (int y = 0; y < cell->size[1]; y++) {
                const double *from = point_of(cell, cell->u, 0, y, z);
                for (int x = 0; x < cell->size[0]; x++)
                    for (int m = 0; m < COMPONENTS; m++)
                        *to++ = from[x + m * cell->component] + shift;
            }
    }
}

void store_unpack(const Store *store)
{
    const double *from = store->buffer;
    for (int c = 0; c < store->domain->edge; c++) {
        const Cell *cell = &store->domain->cells[c];
        for (int z = 0; z < cell->size[2]; z++)
            for (int y = 0; y < cell->size[1]; y++) {
                double *to = point_of(cell, cell->u, 0, y, z);
                for (int x = 0; x < cell->size[0]; x++)
                    for (int m = 0; m < COMPONENTS; m++)
                        to[x + m * cell->component] = *from++;
            }
    }
}

long long store_differences(const Store *store, double shift)
{
    const double *found = store->buffer;
    long long differences = 0;
    for (int c = 0; c < store->domain->edge; c++) {
        const Cell *cell = &store->domain->cells[c];
        for (int z = 0; z < cell->size[2]; z++)
            for (int y = 0; y < cell->size[1]; y++) {
                const double *expected = point_of(cell, cell->u, 0, y, z);
                for (int x = 0; x < cell->size[0]; x++)
                    for (int m = 0; m < COMPONENTS; m++)
                        differences += *found++ != expected[x + m * cell->component] + shift;
            }
    }
    return differences;
}

long long file_point(const Domain *domain, const Cell *cell, int y, int z, int dump)
{
    long long nx = domain->grid[0], ny = domain->grid[1], nz = domain->grid[2];
    return cell->low[0] + nx * (cell->low[1] + y + ny * (cell->low[2] + z + nz * dump));
}
