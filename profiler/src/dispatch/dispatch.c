#include "dispatch.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../system/library.h"
#include "../adapter.h"
#include "../runtime/wrap.h"
#include "../system/path_room.h"
#include "dlsym.h"
#include "first_rank.h"
#include "mpi_library.h"
#include "symbols.h"

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
