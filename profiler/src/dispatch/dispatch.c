#include "dispatch.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

#include "../adapter.h"
#include "../runtime/wrap.h"
#include "../system/library.h"
#include "../system/path.h"

/* `handle`: the library's handle of dlopen; NULL if there is no MPI library yet. `path`: the library's file.
 * `adapter`: the name that stands in the file name of the adapter for the library's ABI; NULL for an ABI that
 * has no adapter. */
struct mpi_library {
    void *handle;
    const char *path, *adapter;
};

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

/* Finds the MPI library that was loaded when the process started. Costs nothing if there is none. */
static struct mpi_library mpi_library_at_start(void) { return library_with((const void *)MARK); }

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

/* Finds the MPI library that the object with the address `caller` uses, or else any that was loaded, also one
 * whose symbols are visible only to the objects that need them. */
static struct mpi_library mpi_library_for(const void *caller)
{
    Dl_info info;
    struct link_map *map;
    void *function = dlsym(RTLD_NEXT, mark);
    if (!function && dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP))
        function = mark_below(map->l_name);
    return library_with(function ? function : mark_anywhere());
}

/* The ranks of a job before MPI has begun. */

/* Returns the rank by the first of the launchers' variables that is set; NULL if none is. SLURM_PROCID comes
 * last, because mpirun within a batch job does not change it. */
static const char *rank(void)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK",       "PMIX_RANK",
                                            "MV2_COMM_WORLD_RANK",  "PALS_RANKID",    "ALPS_APP_PE",
                                            "JSM_NAMESPACE_RANK",   "FLUX_TASK_RANK", "SLURM_PROCID"};
    const char *value = NULL;
    for (size_t i = 0; !value && i < sizeof variables / sizeof *variables; i++)
        value = getenv(variables[i]);
    return value;
}

/* Returns true if a launcher gave this process a rank. */
static bool has_rank(void) { return rank() != NULL; }

/* Returns true in the one rank that prints a message: rank 0 by the launcher's variables, since MPI cannot be
 * asked, or a process without a launcher. */
static bool first_rank(void) { return !has_rank() || strcmp(rank(), "0") == 0; }

/* Room for the longest name of a function with its prefix. */
enum { NAME_ROOM = 64 };

/* A symbol that each adapter exports. It is known when the process starts if an adapter stands in the list of
 * preloaded libraries, as in the instructions of former versions. That adapter then precedes this library, or
 * is the next one for it, and needs no stubs. */
extern const char iolens_adapter_name[] __attribute__((weak));

static struct mpi_library library;
static void *adapter;
static bool known, is_wanted;

IOLENS_EXPORT bool iolens_first_rank(void) { return first_rank(); }

static const char *full_name(enum stub stub, char room[NAME_ROOM])
{
    snprintf(room, NAME_ROOM, "%sMPI_%s", stub % 2 ? "P" : "", stub_name(stub));
    return room;
}

/* Returns the program's own function: the next one after this library, so that other tools stay in the chain,
 * or that of a library whose symbols are not visible to all. */
static void *real_function(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    return function || !library.handle ? function : dlsym_in(library.handle, name);
}

IOLENS_EXPORT void *iolens_mpi_function(const char *name) { return adapter ? real_function(name) : NULL; }

/* Loads the adapter from the folder of this library. */
static void *open_adapter(void)
{
    char path[PATH_BYTES];
    Dl_info own;
    if (!is_wanted || !library.adapter || iolens_adapter_name || !dladdr((void *)dispatch_start, &own))
        return NULL;
    const char *slash = strrchr(own.dli_fname, '/');
    int folder = slash ? (int)(slash + 1 - own.dli_fname) : 0;
    int length = snprintf(path, sizeof path, "%.*slibiolens-%s.so", folder, own.dli_fname, library.adapter);
    return length < (int)sizeof path ? library_open(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

/* Takes the functions that the library lacks out of the program's sight. */
static void hide_absent(void)
{
    char name[NAME_ROOM];
    bool absent[STUBS];
    for (int stub = 0; stub < STUBS; stub += 2)
        absent[stub] = absent[stub + 1] = !dlsym_in(library.handle, full_name((enum stub)stub, name));
    symbols_hide(absent);
    symbols_forget(absent);
}

/* Sets the library, once. Several threads may do so at once, and come to the same result. */
static void know(struct mpi_library found)
{
    library = found;
    if (!adapter)
        adapter = open_adapter();
    hide_absent();
    __atomic_store_n(&known, true, __ATOMIC_RELEASE);
}

void dispatch_start(bool wanted)
{
    is_wanted = wanted;
    struct mpi_library found = mpi_library_at_start();
    if (found.handle) {
        know(found);
        dlerror();
        return;
    }
    bool absent[STUBS];
    memset(absent, true, sizeof absent);
    symbols_forget(absent);
}

/* Takes the place of a function that no loaded library has. The number is that of MPI_ERR_OTHER or a
 * neighbour of it, depending on the library; in all of them 0 alone means success. */
static int absent_function(void) { return 15; }

/* Tells the user, when MPI begins, that and why it is not recorded. */
static void tell_why_not(enum stub stub)
{
    bool begins = strcmp(stub_name(stub), "Init") == 0 || strcmp(stub_name(stub), "Init_thread") == 0;
    if (!begins || adapter || !is_wanted || iolens_adapter_name || !first_rank())
        return;
    if (library.adapter)
        iolens_say("the adapter libiolens-%s.so for %s was not found beside libiolens.so, so each process "
                   "writes a log of its own, without MPI-IO",
                   library.adapter, library.path);
    else if (library.handle)
        iolens_say(
            "%s is an MPI library of an unknown kind, so each process writes a log of its own, without "
            "MPI-IO",
            library.path);
}

static void *target(enum stub stub, const void *caller)
{
    char name[NAME_ROOM];
    if (!__atomic_load_n(&known, __ATOMIC_ACQUIRE)) {
        struct mpi_library found = mpi_library_for(caller);
        if (found.handle)
            know(found);
    }
    tell_why_not(stub);
    full_name(stub, name);
    void *function = adapter ? dlsym_in(adapter, name) : NULL;
    if (!function)
        function = real_function(name);
    if (function)
        __atomic_store_n(&stub_slots[stub], function, __ATOMIC_RELEASE);
    else
        iolens_say("%s was called, but no loaded library has it", name);
    dlerror();
    return function ? function : (void *)absent_function;
}

void *stub_target(enum stub stub, const void *caller)
{
    void *found;
    bool busy = iolens_busy;
    int saved_errno = errno;
    iolens_busy = true;
    found = target(stub, caller);
    iolens_busy = busy;
    errno = saved_errno;
    return found;
}
