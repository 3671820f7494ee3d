#include "mpi_library.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "../system/library.h"

/* A function that each MPI library since version 3 of the standard has, and no other library. It is not
 * wrapped. The loader sets the weak symbol when the process starts. */
#define MARK PMPI_Get_library_version
extern int MARK(char *version, int *length) __attribute__((weak));
static const char mark[] = "PMPI_Get_library_version";

/* Each ABI by a symbol to which programs that are compiled for it refer. MPICH's libraries may also have
 * MPI_Abi_get_version. */
static const struct abi {
    const char *symbol, *adapter;
} abis[] = {
    {"ompi_mpi_comm_world", "openmpi"},
    {"MPIR_Dup_fn", "mpich"},
    {"MPI_Abi_get_version", "mpiabi"},
};

/* Returns a handle of a loaded object; NULL for an object that is not listed, as the kernel's. */
static void *handle_of(const char *path) { return library_loaded(*path ? path : NULL); }

static struct mpi_library library_with(const void *function)
{
    struct mpi_library found = {NULL};
    Dl_info info;
    struct link_map *map;
    if (!function || !dladdr1(function, &info, (void **)&map, RTLD_DL_LINKMAP))
        return found;
    found.handle = handle_of(map->l_name);
    found.path = *map->l_name ? map->l_name : info.dli_fname;
    for (size_t i = 0; found.handle && !found.adapter && i < sizeof abis / sizeof *abis; i++)
        if (dlsym(found.handle, abis[i].symbol))
            found.adapter = abis[i].adapter;
    return found;
}

struct mpi_library mpi_library_at_start(void) { return library_with((const void *)MARK); }

/* Returns the function that the object, or an object on which it depends, has; NULL if none has it. */
static void *mark_below(const char *path)
{
    void *handle = handle_of(path);
    void *function = handle ? dlsym(handle, mark) : NULL;
    if (handle)
        library_close(handle);
    return function;
}

/* A step through the loaded objects: the number of objects to pass over, and the path of the next one. */
struct step {
    size_t passed;
    const char *path;
};

static int take_step(struct dl_phdr_info *info, size_t size, void *context)
{
    struct step *step = context;
    (void)size;
    if (step->passed-- > 0)
        return 0;
    step->path = info->dlpi_name;
    return 1;
}

/* Looks at one object after the other. dlopen must not be called while dl_iterate_phdr holds its lock. */
static void *mark_anywhere(void)
{
    void *function = NULL;
    struct step step = {0};
    for (size_t i = 0; !function; i++) {
        step.passed = i;
        if (!dl_iterate_phdr(take_step, &step))
            return NULL;
        function = mark_below(step.path);
    }
    return function;
}

struct mpi_library mpi_library_for(const void *caller)
{
    Dl_info info;
    struct link_map *map;
    void *function = dlsym(RTLD_NEXT, mark);
    if (!function && dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP))
        function = mark_below(map->l_name);
    return library_with(function ? function : mark_anywhere());
}
