#include "patterns.h"

#include <string.h>

static bool same(const int64_t *a, const int64_t *b) { return memcmp(a, b, sizeof(struct pattern)) == 0; }

/* Counts a pattern. If every place is taken, the rarest pattern is replaced, and its count becomes the
 * possible error of the new one. */
void patterns_add(struct patterns *patterns, const struct pattern *pattern)
{
    int at = 0, rarest = 0;
    for (; at < patterns->used && !same(patterns->seen[at].words, pattern->words); at++)
        if (patterns->count[at] < patterns->count[rarest])
            rarest = at;
    if (at == PATTERNS_KEPT) {
        at = rarest;
        patterns->error[at] = patterns->count[at];
        patterns->seen[at] = *pattern;
    } else if (at == patterns->used) {
        patterns->used++;
        patterns->seen[at] = *pattern;
    }
    patterns->count[at]++;
}

static bool before(const int64_t *a, int64_t a_count, const int64_t *b, int64_t b_count)
{
    return a_count != b_count ? a_count > b_count : memcmp(a, b, sizeof(struct pattern)) > 0;
}

void patterns_insert(int64_t *ints, const int64_t *words, int64_t count)
{
    int64_t *counts = ints + PATTERNS_TOP * PATTERN_WORDS;
    int at = 0;
    while (at < PATTERNS_TOP - 1 && !(counts[at] && same(ints + at * PATTERN_WORDS, words)))
        at++;
    if (counts[at] && same(ints + at * PATTERN_WORDS, words))
        count += counts[at];
    else if (counts[at] && before(ints + at * PATTERN_WORDS, counts[at], words, count))
        return;
    for (; at > 0 && before(words, count, ints + (at - 1) * PATTERN_WORDS, counts[at - 1]); at--) {
        memcpy(ints + at * PATTERN_WORDS, ints + (at - 1) * PATTERN_WORDS, sizeof(struct pattern));
        counts[at] = counts[at - 1];
    }
    memcpy(ints + at * PATTERN_WORDS, words, sizeof(struct pattern));
    counts[at] = count;
}

void patterns_top(const struct patterns *patterns, int64_t *ints)
{
    for (int i = 0; i < patterns->used; i++)
        if (patterns->count[i] > patterns->error[i])
            patterns_insert(ints, patterns->seen[i].words, patterns->count[i] - patterns->error[i]);
}

void patterns_keep(const struct patterns *patterns, struct kept_values *kept)
{
    for (int i = 0; i < patterns->used; i++)
        if (patterns->count[i] > patterns->error[i])
            kept_add(kept, patterns->seen[i].words, patterns->count[i] - patterns->error[i]);
}

void patterns_join(const struct patterns *from, struct patterns *into)
{
    for (int i = 0; i < from->used; i++)
        for (int64_t n = from->error[i]; n < from->count[i]; n++)
            patterns_add(into, &from->seen[i]);
}
