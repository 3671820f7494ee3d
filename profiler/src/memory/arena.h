/* Memory for records: zeroed, never moved, never freed, taken from the system in slabs up to a limit.
 * Works without malloc, so that recording is possible wherever the program itself may call a wrapped
 * function. */
#ifndef IOLENS_ARENA_H
#define IOLENS_ARENA_H

#include <stddef.h>

#include "../system/spin.h"

struct arena {
    struct spin lock;
    char *next;
    size_t left;                   /* bytes behind `next` in the newest slab */
    size_t slab;                   /* bytes of the newest slab */
    size_t taken;                  /* bytes of all slabs */
    size_t limit;                  /* bytes that may be taken */
    void *(*extend)(size_t bytes); /* where slabs come from first; NULL, or without room: from the system */
    _Bool exhausted;               /* an allocation was refused */
};

/* `extend` gives whole zeroed pages, or NULL when there is no more room; may be NULL itself. */
void arena_start(struct arena *arena, size_t limit, void *(*extend)(size_t bytes));

/* `bytes` of zeroed memory aligned to 16, or NULL when the limit is reached. */
void *arena_alloc(struct arena *arena, size_t bytes);

/* The same on cache lines of its own, for what one thread writes at every call: its neighbours would be
 * slowed down. */
void *arena_alloc_lines(struct arena *arena, size_t bytes);

/* The same as arena_alloc for a signal handler, which never waits for the thread that it interrupted: NULL
 * then too. */
void *arena_try_alloc(struct arena *arena, size_t bytes);

/* A copy of `text` in the arena, or NULL. */
char *arena_text(struct arena *arena, const char *text);

/* Memory outside the arena's limit, straight from the system; NULL on failure. */
void *pages_alloc(size_t bytes);
void pages_free(void *pages, size_t bytes);

#endif
