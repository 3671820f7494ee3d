/* The blocks of the heap that are in use, found by their address. The caller holds a lock. */
#ifndef IOLENS_HEAP_BLOCKS_H
#define IOLENS_HEAP_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

struct heap_block {
    uintptr_t address; /* Address of the block; 0: the entry is free. */
    int64_t bytes;
    void *owner; /* The row of the caller that allocated the block. */
};

/* Adds a block whose address is not in the table. Returns false if there is no room. */
bool heap_blocks_add(const struct heap_block *block);

/* Removes the block at an address. Returns false if it is not in the table. */
bool heap_blocks_take(uintptr_t address, struct heap_block *taken);

/* Forgets all blocks. */
void heap_blocks_clear(void);

#endif
