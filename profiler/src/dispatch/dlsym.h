/* Wraps dlsym: a program that asks an MPI library itself for a function, as Julia and Python's ctypes do,
 * gets the stub of that function. */
#ifndef IOLENS_DLSYM_H
#define IOLENS_DLSYM_H

/* Looks a symbol up in a loaded object, for this library itself. */
void *dlsym_in(void *handle, const char *name);

#endif
