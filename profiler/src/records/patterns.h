/* The most frequent accesses to a dataset: bytes, then length (count * block) and stride of the last five
 * dimensions, the fastest one first. They are kept in the way in which frequent_values.h keeps single
 * values. */
#ifndef IOLENS_PATTERNS_H
#define IOLENS_PATTERNS_H

#include "frequent_values.h"

enum {
    PATTERN_DIMENSIONS = 5,
    PATTERN_WORDS = 1 + 2 * PATTERN_DIMENSIONS,
    PATTERNS_TOP = 4,
    PATTERNS_KEPT = 32
};

struct pattern {
    int64_t words[PATTERN_WORDS]; /* Size in bytes, five lengths, and five strides. */
};

struct patterns {
    int used;
    struct pattern seen[PATTERNS_KEPT];
    int64_t count[PATTERNS_KEPT], error[PATTERNS_KEPT];
};

void patterns_add(struct patterns *patterns, const struct pattern *pattern);

/* Writes the four most frequent patterns to a record, by falling count: first the patterns, then their
 * counts. */
void patterns_top(const struct patterns *patterns, int64_t *ints);

/* Inserts `count` occurrences of a pattern into a list as patterns_top writes it. If the pattern is there
 * already, its count grows. */
void patterns_insert(int64_t *ints, const int64_t *words, int64_t count);

/* Copies all patterns that were kept, so that they can be merged over ranks. */
void patterns_keep(const struct patterns *patterns, struct kept_values *kept);

/* Adds the counts of `from` to `into`. */
void patterns_join(const struct patterns *from, struct patterns *into);

#endif
