/* Declares the core's functions as weak symbols for the adapter. If the core is not preloaded, they stay
 * undefined, and the adapter does nothing. */
#ifndef IOLENS_CORE_H
#define IOLENS_CORE_H

#include "../adapter.h"

#define BORDER(returns, name, parameters, meaning) __attribute__((weak)) returns name parameters;
#include "../adapter.def"
#undef BORDER

/* The C library's malloc and free under names that no traced function replaces, because the adapter's
 * own allocations must not count as the program's. Memory that MPI has allocated is freed by the
 * ordinary `free`. */

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void __libc_free(void *memory);

static inline void *heap_take(size_t bytes) { return __libc_malloc(bytes); }
static inline void *heap_take_zeroed(size_t count, size_t bytes) { return __libc_calloc(count, bytes); }
static inline void *heap_resize(void *memory, size_t bytes) { return __libc_realloc(memory, bytes); }
static inline void heap_give_back(void *memory) { __libc_free(memory); }

/* After MPI_Init, reports to the core the library's version, its components, parameters and environment
 * variables. */
void parameters_tell(void);

/* Reports the facts that only the library itself knows; defined once for Open MPI and once for all other
 * libraries. */
void parameters_of_library(void);

#endif
