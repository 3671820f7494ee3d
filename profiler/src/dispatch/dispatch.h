/* Leads the program's calls of MPI to the adapter for its MPI library, whichever library that is and whenever
 * it is loaded. */
#ifndef IOLENS_DISPATCH_H
#define IOLENS_DISPATCH_H

#include <stdbool.h>
#include <stdint.h>

/* Loads the adapter if the process has an MPI library. Called when the process begins. `wanted` is false if
 * MPI is not to be recorded. */
void dispatch_start(bool wanted);

/* Programs that start the ranks of a job. They are not recorded, because the files that they read and write
 * are not the job's. */

/* Returns true if the words, which end with NULL, are the command of a launcher, or of an interpreter of a
 * launcher that is a script. */
bool launcher_is(char *const *words);

/* The exported functions MPI_* and PMPI_*. Each is a jump to the function in its slot, with all registers and
 * the stack as the program left them, so that neither its arguments nor its return address change. */

/* Stubs have this size, so that the number of a stub follows from its address. The two names of a function
 * have neighbouring numbers: MPI_ is even, PMPI_ odd. */
enum { STUB_BYTES = 32 };

/* Numbers of the functions, and STUBS, the number of all stubs. */
enum stub {
#define NAME(name) STUB_MPI_##name, STUB_PMPI_##name,
#include "names.h"
#undef NAME
    STUBS
};

/* Targets of the stubs. A stub whose slot is NULL asks stub_target for its target. */
extern void *stub_slots[STUBS] __attribute__((visibility("hidden")));

/* Address of the first stub. */
extern const char stubs_begin[] __attribute__((visibility("hidden")));

/* Returns the function to which the stub jumps; `caller` is the return address of the call. Called by a stub
 * without a target. */
void *stub_target(enum stub stub, const void *caller);

/* Returns the name of the stub's function without a prefix. */
const char *stub_name(enum stub stub);

/* Wraps dlsym: a program that asks an MPI library itself for a function, as Julia and Python's ctypes do,
 * gets the stub of that function. */

/* Looks a symbol up in a loaded object, for this library itself. */
void *dlsym_in(void *handle, const char *name);

/* Removes the stubs for which `absent` is true from this library's symbols, so that neither dlsym nor a
 * library that is loaded later finds them. */
void symbols_hide(const bool absent[STUBS]);

/* Sets weak references to stubs for which `absent` is true to NULL in all loaded objects, as without this
 * library: a program may test whether a function exists by the address of a weak symbol. */
void symbols_forget(const bool absent[STUBS]);

#endif
