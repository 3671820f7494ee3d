#include "reserve.h"

#include <stddef.h>

#include "../job/identity.h"
#include "../memory/arena.h"
#include "../runtime/context.h"

enum { LEAST_BYTES = 4 << 20, COPIES = 2 };

static struct {
    void *pages;
    size_t bytes;
} iolens_reserve;

/* Reserves memory for writing the log. Rank 0 reserves more, because it gathers the names of hosts and
 * programs of all ranks. */
void reserve_hold(int rank, int ranks)
{
    size_t names = rank == 0 ? (size_t)ranks * 2 * HOST_BYTES : 0;
    iolens_reserve.bytes = LEAST_BYTES + names;
    iolens_reserve.pages = pages_alloc(iolens_reserve.bytes);
}

/* Gives the reserved memory back, and returns true if there is now enough for writing the log. Writing needs
 * a copy of the records beside the records themselves, because all parts of the log are in memory until the
 * last one is complete. */
bool reserve_release(void)
{
    if (!iolens_reserve.pages)
        return true;
    size_t needed = COPIES * iolens.arena.taken + iolens_reserve.bytes;
    pages_free(iolens_reserve.pages, iolens_reserve.bytes);
    iolens_reserve.pages = NULL;
    void *pages = pages_alloc(needed);
    pages_free(pages, needed);
    return pages != NULL;
}
