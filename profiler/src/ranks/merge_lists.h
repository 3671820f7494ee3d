/* The lists of most frequent values of shared files, merged over all ranks. */
#ifndef IOLENS_MERGE_LISTS_H
#define IOLENS_MERGE_LISTS_H

#include "../adapter.h"
#include "../memory/buffer.h"
#include "../records/kept_values.h"

/* Lists are stored one after another without their unused rows, because most files have few different
 * values. To add a list, fill the room that lists_add returns (NULL without memory), then call lists_trim
 * to cut off the unused rest. */
struct kept_values *lists_add(struct buffer *lists, int words);
void lists_trim(struct buffer *lists, const struct kept_values *last);

static inline const struct kept_values *lists_next(const struct kept_values *kept)
{
    return (const struct kept_values *)((const char *)kept + kept_bytes((int)kept->words, (int)kept->used));
}

/* Collective. Merges `count` lists, which describe the same values in the same order on all ranks, and
 * gives the result to all ranks. Returns 0, or -1. */
int lists_merge(const struct iolens_transport *transport, struct buffer *lists, size_t count);

#endif
