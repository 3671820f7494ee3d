/* Finds the function behind a wrapper, for the profiler and for the libraries of traced groups. */
#ifndef IOLENS_NEXT_SYMBOL_H
#define IOLENS_NEXT_SYMBOL_H

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* Wrapped functions of which a library has two definitions, with the version of the newer one. Before glibc
 * 2.36, dlsym(RTLD_NEXT) returns the older definition (bug 14932), which may behave in another way than the
 * one that the program was linked with: the older lio_listio does not wait, and the older io_getevents has
 * other arguments. */
static const struct {
    const char *name, *version;
} IOLENS_NEWER[] = {
    {"exp", "GLIBC_2.29"},
    {"exp10f", "GLIBC_2.32"},
    {"exp2", "GLIBC_2.29"},
    {"exp2f", "GLIBC_2.27"},
    {"expf", "GLIBC_2.27"},
    {"hypot", "GLIBC_2.35"},
    {"hypotf", "GLIBC_2.35"},
    {"io_cancel", "LIBAIO_0.4"},
    {"io_getevents", "LIBAIO_0.4"},
    {"lgamma", "GLIBC_2.23"},
    {"lgammaf", "GLIBC_2.23"},
    {"lio_listio", "GLIBC_2.4"},
    {"lio_listio64", "GLIBC_2.4"},
    {"log", "GLIBC_2.29"},
    {"log2", "GLIBC_2.29"},
    {"log2f", "GLIBC_2.27"},
    {"logf", "GLIBC_2.27"},
    {"posix_spawn", "GLIBC_2.15"},
    {"posix_spawnp", "GLIBC_2.15"},
    {"pow", "GLIBC_2.29"},
    {"powf", "GLIBC_2.27"},
    {"pthread_cond_broadcast", "GLIBC_2.3.2"},
    {"pthread_cond_signal", "GLIBC_2.3.2"},
    {"pthread_cond_timedwait", "GLIBC_2.3.2"},
    {"pthread_cond_wait", "GLIBC_2.3.2"},
};

/* Returns the newest definition of `name` in the libraries that come after the one that calls; NULL if there
 * is none. */
static inline void *next_symbol(const char *name)
{
    void *found = NULL;
    for (size_t i = 0; i < sizeof IOLENS_NEWER / sizeof *IOLENS_NEWER; i++)
        if (strcmp(IOLENS_NEWER[i].name, name) == 0)
            found = dlvsym(RTLD_NEXT, name, IOLENS_NEWER[i].version);
    return found ? found : dlsym(RTLD_NEXT, name);
}

#endif
