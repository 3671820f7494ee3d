/* Chooses the ranks with the largest values without sending every rank's values to all others. */
#ifndef IOLENS_TOP_RANKS_H
#define IOLENS_TOP_RANKS_H

#include <stdbool.h>

#include "../adapter.h"

/* Collective. For each of `count` items, sets chosen[i] on the `most` ranks with the largest weight[i] (>=
 * 0). Weights between the same powers of two count as equal, and among equals lower ranks are chosen first.
 * Sends 65 numbers per item in one call, and one in another. Returns 0, or -1. */
int top_ranks_choose(const struct iolens_transport *transport, const int64_t *weight, size_t count,
                     int64_t most, bool *chosen);

/* Collective. Each rank has `count` rows that other ranks do not have. Chooses the `most` rows of largest
 * weight over all ranks, by the rule of top_ranks_choose. Returns 0, or -1. */
int top_rows_choose(const struct iolens_transport *transport, const int64_t *weight, size_t count,
                    int64_t most, bool *chosen);

#endif
