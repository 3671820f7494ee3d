/* Functions of a library that the program may have loaded for itself alone, as Python does with what its
 * extension modules need: out of sight of a plain look-up. */
#ifndef IOLENS_LIBRARY_H
#define IOLENS_LIBRARY_H

/* The definition of `name` behind this library, else the one of a loaded library whose file name begins with
 * `prefix`, or of a library which that one needs; NULL when there is none. */
void *library_symbol(const char *prefix, const char *name);

/* Calls the dlclose behind this library, which has one of its own for the program. */
void library_close(void *handle);

#endif
