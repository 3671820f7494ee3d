/* The lists of most frequent values of shared files, merged over all ranks. */
#ifndef IOLENS_MERGE_LISTS_H
#define IOLENS_MERGE_LISTS_H

#include "../adapter.h"
#include "../memory/buffer.h"
#include "../records/kept_values.h"

/* Lists lie one behind the other, each without the rows that it does not use: most files see few different
 * values. To add one, fill the room that lists_add returns (NULL without memory), and let lists_trim cut off
 * the rest of it. */
struct kept_values *lists_add(struct buffer *lists, int words);
void lists_trim(struct buffer *lists, const struct kept_values *last);

static inline const struct kept_values *lists_next(const struct kept_values *kept)
{
    return (const struct kept_values *)((const char *)kept + kept_bytes((int)kept->words, (int)kept->used));
}

/* Collective. `count` lists, of the same values in the same order on all ranks: those of rank 0 become those
 * of all. Returns 0, or -1. */
int lists_merge(const struct iolens_transport *transport, struct buffer *lists, size_t count);

#endif
