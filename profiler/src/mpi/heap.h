/* The C library's malloc and free under names that no traced function replaces, because the adapter's
 * own allocations must not count as the program's. Memory that MPI has allocated is freed by the
 * ordinary `free`. */
#ifndef IOLENS_MPI_HEAP_H
#define IOLENS_MPI_HEAP_H

#include <stddef.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void __libc_free(void *memory);

static inline void *heap_take(size_t bytes) { return __libc_malloc(bytes); }
static inline void *heap_take_zeroed(size_t count, size_t bytes) { return __libc_calloc(count, bytes); }
static inline void *heap_resize(void *memory, size_t bytes) { return __libc_realloc(memory, bytes); }
static inline void heap_give_back(void *memory) { __libc_free(memory); }

#endif
