/* The values of which a record names the most frequent four, with all that were kept of them, on their way
 * through the ranks. Merging only the best four of each rank would lose the counts of a value that is not
 * among the best of every rank. */
#ifndef IOLENS_KEPT_VALUES_H
#define IOLENS_KEPT_VALUES_H

#include <stddef.h>
#include <stdint.h>

enum { KEPT_ALL = 64 }; /* room for what one rank keeps of reads and writes together */

/* `used` rows of `words` numbers (the value) and a count; room for `room` rows. */
struct kept_values {
    int64_t words, room, used, rows[];
};

size_t kept_bytes(int words, int room);
void kept_start(struct kept_values *kept, int words, int room);

/* Add `count` occurrences of a value. Without room the rarest value makes way for a more frequent one. */
void kept_add(struct kept_values *kept, const int64_t *value, int64_t count);

/* Add what a lower rank range kept. */
void kept_merge(const struct kept_values *lower, struct kept_values *inout);

static inline const int64_t *kept_value(const struct kept_values *kept, int64_t i)
{
    return kept->rows + i * (kept->words + 1);
}

static inline int64_t kept_count(const struct kept_values *kept, int64_t i)
{
    return kept->rows[i * (kept->words + 1) + kept->words];
}

#endif
