/* Leads the calls of libraries that are loaded with RTLD_DEEPBIND to the profiler. The loader binds such a
 * library to the C library directly, past every preloaded library. */
#ifndef IOLENS_DEEP_LIBRARIES_H
#define IOLENS_DEEP_LIBRARIES_H

#include <stddef.h>

/* Returns the number of loaded objects. */
size_t deep_libraries_count(void);

/* Leads the calls of the objects from number `first` on, which came with the library `handle`. A function
 * that the library or one of its own libraries defines stays as it is. */
void deep_libraries_lead(size_t first, void *handle);

#endif
