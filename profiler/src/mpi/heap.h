/* The C library's own heap by names that nothing stands before: malloc and its kin may be traced functions,
 * and what an adapter allocates is not the program's. Memory that MPI has allocated goes back by `free`,
 * where MPI had it from. */
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
