#include "heap_blocks.h"

#include "../../memory/arena.h"
#include "../../system/signals.h"

/* FIRST_SLOTS and MOST_SLOTS must be powers of two. At most three of four slots are filled. */
enum { FIRST_SLOTS = 1 << 12, MOST_SLOTS = 1 << 23 };

static struct {
    struct heap_block *slot; /* An open hash table with linear probing. */
    size_t slots, used;
} iolens_heap_blocks;

static size_t home_of(uintptr_t address)
{
    uint64_t mixed = (uint64_t)(address >> 4) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(mixed >> 32) & (iolens_heap_blocks.slots - 1);
}

static size_t next_to(size_t at) { return (at + 1) & (iolens_heap_blocks.slots - 1); }

/* Returns the slot of an address in the table, or the free slot where it belongs. */
static size_t slot_of(uintptr_t address)
{
    const struct heap_block *slot = iolens_heap_blocks.slot;
    size_t at = home_of(address);
    while (slot[at].address && slot[at].address != address)
        at = next_to(at);
    return at;
}

static bool grow(void)
{
    struct heap_block *old = iolens_heap_blocks.slot;
    size_t before = iolens_heap_blocks.slots, slots = before ? 2 * before : FIRST_SLOTS;
    struct heap_block *fresh = slots <= MOST_SLOTS ? pages_alloc(slots * sizeof *fresh) : NULL;
    if (!fresh)
        return false;
    /* Moving millions of blocks takes a second, during which other threads must not treat the lock as
     * abandoned. */
    struct long_section section = long_section_begin(0);
    iolens_heap_blocks.slot = fresh;
    iolens_heap_blocks.slots = slots;
    for (size_t i = 0; i < before; i++)
        if (old[i].address)
            fresh[slot_of(old[i].address)] = old[i];
    pages_free(old, before * sizeof *old);
    long_section_end(&section);
    return true;
}

bool heap_blocks_add(const struct heap_block *block)
{
    if (iolens_heap_blocks.used >= iolens_heap_blocks.slots / 4 * 3 && !grow())
        return false;
    iolens_heap_blocks.slot[slot_of(block->address)] = *block;
    iolens_heap_blocks.used++;
    return true;
}

/* Moves later entries of a chain into a slot that became free, so that no search ends there too early. */
static void close_hole(size_t hole)
{
    struct heap_block *slot = iolens_heap_blocks.slot;
    size_t last = iolens_heap_blocks.slots - 1;
    for (size_t at = next_to(hole); slot[at].address; at = next_to(at)) {
        size_t from_home = (at - home_of(slot[at].address)) & last, from_hole = (at - hole) & last;
        if (from_home < from_hole)
            continue;
        slot[hole] = slot[at];
        hole = at;
    }
    slot[hole].address = 0;
}

bool heap_blocks_take(uintptr_t address, struct heap_block *taken)
{
    size_t at = iolens_heap_blocks.slots ? slot_of(address) : 0;
    if (!iolens_heap_blocks.slots || !iolens_heap_blocks.slot[at].address)
        return false;
    *taken = iolens_heap_blocks.slot[at];
    close_hole(at);
    iolens_heap_blocks.used--;
    return true;
}

void heap_blocks_clear(void)
{
    pages_free(iolens_heap_blocks.slot, iolens_heap_blocks.slots * sizeof(struct heap_block));
    iolens_heap_blocks.slot = NULL;
    iolens_heap_blocks.slots = iolens_heap_blocks.used = 0;
}
