/* Memory for records: zeroed, never moved, never freed, taken from the system in slabs up to a limit.
 * Works without malloc, so that recording is possible wherever the program itself may call a wrapped
 * function. */
#ifndef IOLENS_ARENA_H
#define IOLENS_ARENA_H

#include "../system/spin.h"

struct arena {
    struct spin lock;
    char *next;
    size_t left;  /* Free bytes behind `next` in the newest slab. */
    size_t slab;  /* Size of the newest slab in bytes. */
    size_t taken; /* Total size of all slabs in bytes. */
    size_t limit; /* Largest total size in bytes. */
    /* Function that provides slabs first. If it is NULL or returns NULL, slabs come from the system. */
    void *(*extend)(size_t bytes);
    _Bool exhausted; /* True after an allocation was refused. */
};

/* Prepares an arena. `extend` returns whole zeroed pages, or NULL without room; it may be NULL itself. */
void arena_start(struct arena *arena, size_t limit, void *(*extend)(size_t bytes));

/* Returns `bytes` of zeroed memory aligned to 16; NULL if the limit is reached. */
void *arena_alloc(struct arena *arena, size_t bytes);

/* Returns memory on cache lines of its own. Use it for data that one thread writes at every call; on a shared
 * line the writes would slow other threads down. */
void *arena_alloc_lines(struct arena *arena, size_t bytes);

/* Returns memory in a signal handler. Never waits for the interrupted thread; also returns NULL if that
 * thread is in the arena. */
void *arena_try_alloc(struct arena *arena, size_t bytes);

/* Returns a copy of `text` in the arena, or NULL. */
char *arena_text(struct arena *arena, const char *text);

/* Returns memory from the system that does not count against the arena's limit; NULL on failure. */
void *pages_alloc(size_t bytes);
void pages_free(void *pages, size_t bytes);

/* Changes the size of memory from pages_alloc to `more` bytes and returns its place, which may be a new one;
 * MAP_FAILED without memory. */
void *pages_move(void *pages, size_t bytes, size_t more);

#endif
