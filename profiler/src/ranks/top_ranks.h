/* Chooses the ranks with the largest values without sending every rank's values to all others. */
#ifndef IOLENS_TOP_RANKS_H
#define IOLENS_TOP_RANKS_H

#include <stdbool.h>

#include "../adapter.h"

/* Collective, in two calls of 65 and of one number per item. For each of `count` items: chosen[i] is set on
 * the `most` ranks with the largest weight[i] (>= 0). Weights between the same powers of two are equal, and
 * among equals the lower rank goes first. Returns 0, or -1. */
int top_ranks_choose(const struct iolens_transport *transport, const int64_t *weight, size_t count,
                     int64_t most, bool *chosen);

/* Collective. Each rank has `count` rows that other ranks do not have. Chooses the `most` rows of largest
 * weight over all ranks, by the same rule. Returns 0, or -1. */
int top_rows_choose(const struct iolens_transport *transport, const int64_t *weight, size_t count,
                    int64_t most, bool *chosen);

#endif
