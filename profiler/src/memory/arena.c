#include "arena.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "../system/system_call.h"

enum { FIRST_SLAB = 64 * 1024, LARGEST_SLAB = 4 * 1024 * 1024, ALIGNMENT = 16, LINE = 64, PAGE = 4096 };

/* Makes the system call itself, because mmap is a wrapped function. */
void *pages_alloc(size_t bytes)
{
    long page = system_call(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);
    return page == -1 ? NULL : (void *)page;
}

void pages_free(void *pages, size_t bytes)
{
    if (pages)
        system_call(SYS_munmap, pages, bytes);
}

void *pages_move(void *pages, size_t bytes, size_t more)
{
    return (void *)system_call(SYS_mremap, pages, bytes, more, MREMAP_MAYMOVE);
}

void arena_start(struct arena *arena, size_t limit, void *(*extend)(size_t bytes))
{
    *arena = (struct arena){.limit = limit, .extend = extend, .lock.held = ATOMIC_FLAG_INIT};
}

static _Bool add_slab(struct arena *arena, size_t bytes)
{
    size_t size = arena->slab ? arena->slab * 2 : FIRST_SLAB;
    size = size > LARGEST_SLAB ? LARGEST_SLAB : size;
    size = size < bytes ? (bytes + PAGE - 1) & ~(size_t)(PAGE - 1) : size;
    if (arena->taken + size > arena->limit)
        return 0;
    void *slab = arena->extend ? arena->extend(size) : NULL;
    slab = slab ? slab : pages_alloc(size);
    if (!slab)
        return 0;
    arena->next = slab;
    arena->left = arena->slab = size;
    arena->taken += size;
    return 1;
}

static void *take(struct arena *arena, size_t bytes)
{
    void *result = NULL;
    bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (bytes <= arena->left || add_slab(arena, bytes)) {
        result = arena->next;
        arena->next += bytes;
        arena->left -= bytes;
    } else {
        arena->exhausted = 1;
    }
    spin_unlock(&arena->lock);
    return result;
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
    spin_hold(&arena->lock);
    return take(arena, bytes);
}

void *arena_alloc_lines(struct arena *arena, size_t bytes)
{
    spin_hold(&arena->lock);
    size_t skipped = -(uintptr_t)arena->next & (LINE - 1);
    if (skipped <= arena->left) {
        arena->next += skipped;
        arena->left -= skipped;
    }
    return take(arena, (bytes + LINE - 1) & ~(size_t)(LINE - 1));
}

void *arena_try_alloc(struct arena *arena, size_t bytes)
{
    return spin_try(&arena->lock) ? take(arena, bytes) : NULL;
}

char *arena_text(struct arena *arena, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = arena_alloc(arena, bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}
