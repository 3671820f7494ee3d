/* Finds functions of a library that the program may have loaded privately, as Python does with the libraries
 * of extension modules: a plain dlsym does not find them. */
#ifndef IOLENS_LIBRARY_H
#define IOLENS_LIBRARY_H

/* Returns the definition of `name` after this library, or else the one in a loaded library whose file name
 * begins with `prefix`, or in a library that it needs; NULL if there is none. */
void *library_symbol(const char *prefix, const char *name);

/* Opens a library; returns a handle of one that is loaded already; closes a handle. They call the C library's
 * functions: this library's own dlopen and dlclose are wrappers for the program. */
void *library_open(const char *file, int mode);
void *library_loaded(const char *file);
void library_close(void *handle);

#endif
