#include "top_ranks.h"

#include <string.h>

#include "../memory/buffer.h"

enum { CLASSES = 65 };

/* Returns the class of a weight: 0 for 0, else 1 + the exponent of the largest power of two that does not
 * exceed it. */
static int class_of(int64_t weight) { return weight > 0 ? 64 - __builtin_clzll((uint64_t)weight) : 0; }

/* Returns the class at which the places run out. All ranks of higher classes are chosen, and of this class
 * only as many as the number that this function stores in `room`. */
static int last_class(const int64_t *ranks, int64_t most, int64_t *room)
{
    int class = CLASSES - 1;
    for (*room = most; class > 0 && ranks[class] <= *room; class --)
        *room -= ranks[class];
    return class;
}

int top_ranks_choose(const struct iolens_transport *transport, const int64_t *weight, size_t count,
                     int64_t most, bool *chosen)
{
    struct buffer histogram = {0}, scan = {0};
    int64_t *ranks = buffer_add(&histogram, (count * CLASSES + 1) * sizeof *ranks), room;
    uint64_t *before = buffer_add(&scan, (count + 1) * sizeof *before);
    int result = ranks && before ? 0 : -1;
    for (size_t i = 0; result == 0 && i < count; i++)
        ranks[i * CLASSES + (size_t)class_of(weight[i])] = 1;
    if (result == 0)
        result = transport->allreduce(ranks, count * CLASSES, IOLENS_INT64, IOLENS_SUM);
    for (size_t i = 0; result == 0 && i < count; i++)
        before[i] = class_of(weight[i]) == last_class(ranks + i * CLASSES, most, &room);
    if (result == 0)
        result = transport->exscan_sum(before, count);
    for (size_t i = 0; result == 0 && i < count; i++) {
        int last = last_class(ranks + i * CLASSES, most, &room), own = class_of(weight[i]);
        chosen[i] = own > last || (own == last && (int64_t)before[i] < room);
    }
    buffer_free(&histogram);
    buffer_free(&scan);
    return result;
}

int top_rows_choose(const struct iolens_transport *transport, const int64_t *weight, size_t count,
                    int64_t most, bool *chosen)
{
    int64_t rows[CLASSES] = {0}, room;
    for (size_t i = 0; i < count; i++)
        rows[class_of(weight[i])]++;
    int64_t own[CLASSES];
    memcpy(own, rows, sizeof own);
    if (transport->allreduce(rows, CLASSES, IOLENS_INT64, IOLENS_SUM) != 0)
        return -1;
    int last = last_class(rows, most, &room);
    uint64_t before = (uint64_t)own[last];
    if (transport->exscan_sum(&before, 1) != 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        int class = class_of(weight[i]);
        chosen[i] = class > last || (class == last && (int64_t)before++ < room);
    }
    return 0;
}
