/* Keeps the exported names of the stubs from misleading programs that ask which MPI functions exist. */
#ifndef IOLENS_DISPATCH_SYMBOLS_H
#define IOLENS_DISPATCH_SYMBOLS_H

#include <stdbool.h>

#include "stubs.h"

/* Removes the stubs for which `absent` is true from this library's symbols, so that neither dlsym nor a
 * library that is loaded later finds them. */
void symbols_hide(const bool absent[STUBS]);

/* Sets weak references to stubs for which `absent` is true to NULL in all loaded objects, as without this
 * library: a program may test whether a function exists by the address of a weak symbol. */
void symbols_forget(const bool absent[STUBS]);

#endif
