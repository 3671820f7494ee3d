#include "shape.h"

#include <string.h>

#include "../runtime/timeline.h"
#include "patterns.h"

size_t shape_bytes(const struct record_shape *shape)
{
    return sizeof(struct record_base) + 8 * (size_t)(shape->ints + shape->doubles);
}

int64_t *shape_ints(void *record) { return (int64_t *)((struct record_base *)record + 1); }

double *shape_doubles(const struct record_shape *shape, void *record)
{
    return (double *)(shape_ints(record) + shape->ints);
}

void shape_correct_times(const struct record_shape *shape, void *record, const struct timeline *line)
{
    double *seconds = shape_doubles(shape, record);
    for (int i = 0; i < shape->doubles; i++) {
        seconds[i] *= line->factor;
        if (seconds[i] != 0 && (shape->double_merge[i] == MERGE_BEGIN || shape->double_merge[i] == MERGE_END))
            seconds[i] += line->shift;
    }
}

void shape_share(const struct record_shape *shape, void *record, int64_t rank, struct spread *spread)
{
    int64_t *ints = shape_ints(record);
    double *doubles = shape_doubles(shape, record);
    double seconds = 0;
    *spread = (struct spread){.ranks = 1};
    if (shape->fastest == SHAPE_NONE)
        return;
    for (int i = 0; i < 3; i++)
        seconds += doubles[shape->seconds[i]];
    int64_t bytes = ints[shape->bytes[0]] + ints[shape->bytes[1]];
    int64_t *extremes = ints + shape->fastest;
    extremes[0] = extremes[2] = rank;
    extremes[1] = extremes[3] = bytes;
    doubles[shape->fastest_seconds] = doubles[shape->fastest_seconds + 1] = seconds;
    *spread = (struct spread){.ranks = 1, .seconds = seconds, .bytes = (double)bytes};
}

static int64_t merged_int(enum merge how, int64_t lower, int64_t higher)
{
    switch (how) {
    case MERGE_SUM:
        return lower < 0 || higher < 0 ? -1 : lower + higher;
    case MERGE_FIRST:
        return lower ? lower : higher;
    default:
        return lower > higher ? lower : higher;
    }
}

static double merged_double(enum merge how, double lower, double higher)
{
    switch (how) {
    case MERGE_SUM:
        return lower + higher;
    case MERGE_BEGIN:
        if (lower == 0 || higher == 0)
            return lower + higher;
        return lower < higher ? lower : higher;
    default:
        return lower > higher ? lower : higher;
    }
}

/* Copies the fastest (slot 0) or slowest (slot 1) rank with its bytes and time. */
static void take_extreme(const struct record_shape *shape, int slot, const int64_t *from_ints,
                         const double *from, int64_t *ints, double *doubles)
{
    ints[shape->fastest + 2 * slot] = from_ints[shape->fastest + 2 * slot];
    ints[shape->fastest + 2 * slot + 1] = from_ints[shape->fastest + 2 * slot + 1];
    doubles[shape->fastest_seconds + slot] = from[shape->fastest_seconds + slot];
}

void shape_merge(const struct record_shape *shape, const void *lower_record, void *inout)
{
    const int64_t *lower_ints = (const int64_t *)((const struct record_base *)lower_record + 1);
    const double *lower = (const double *)(lower_ints + shape->ints);
    int64_t *ints = shape_ints(inout);
    double *doubles = shape_doubles(shape, inout);
    int at = shape->fastest_seconds;

    for (int i = 0; i < 2; i++) {
        struct longest longest = shape->longest[i];
        if (longest.seconds != SHAPE_NONE && lower[longest.seconds] > doubles[longest.seconds]) {
            doubles[longest.seconds] = lower[longest.seconds];
            ints[longest.bytes] = lower_ints[longest.bytes];
        }
    }
    if (shape->fastest != SHAPE_NONE && lower[at] <= doubles[at])
        take_extreme(shape, 0, lower_ints, lower, ints, doubles);
    if (shape->fastest != SHAPE_NONE && lower[at + 1] >= doubles[at + 1])
        take_extreme(shape, 1, lower_ints, lower, ints, doubles);
    for (int i = 0; i < shape->ints; i++)
        if (shape->int_merge[i] != MERGE_APART)
            ints[i] = merged_int(shape->int_merge[i], lower_ints[i], ints[i]);
    for (int i = 0; i < shape->doubles; i++)
        if (shape->double_merge[i] != MERGE_APART)
            doubles[i] = merged_double(shape->double_merge[i], lower[i], doubles[i]);
}

int shape_lists(const struct record_shape *shape, int words[2])
{
    if (shape->patterns) {
        words[0] = PATTERN_WORDS;
        return 1;
    }
    int lists = 0;
    while (lists < 2 && shape->top[lists] != SHAPE_NONE)
        words[lists++] = 1;
    return lists;
}

void shape_put_list(const struct record_shape *shape, void *record, int list, const struct kept_values *kept)
{
    int64_t *top = shape_ints(record) + (shape->patterns ? shape->patterns : shape->top[list]);
    memset(top, 0, TOP_VALUES * (size_t)(kept->words + 1) * sizeof *top);
    for (int64_t i = 0; i < kept->used; i++) {
        if (shape->patterns)
            patterns_insert(top, kept_value(kept, i), kept_count(kept, i));
        else
            top_insert(top, top + TOP_VALUES, *kept_value(kept, i), kept_count(kept, i));
    }
}

/* Returns the sum of squared distances from the mean of two groups together. */
static double merged_squares(double n1, double sum1, double squares1, double n2, double sum2, double squares2)
{
    double distance = sum1 / n1 - sum2 / n2;
    return squares1 + squares2 + distance * distance * n1 * n2 / (n1 + n2);
}

void spread_merge(const struct spread *lower, struct spread *inout)
{
    inout->seconds_squares = merged_squares(lower->ranks, lower->seconds, lower->seconds_squares,
                                            inout->ranks, inout->seconds, inout->seconds_squares);
    inout->bytes_squares = merged_squares(lower->ranks, lower->bytes, lower->bytes_squares, inout->ranks,
                                          inout->bytes, inout->bytes_squares);
    inout->ranks += lower->ranks;
    inout->seconds += lower->seconds;
    inout->bytes += lower->bytes;
}

void shape_finish_shared(const struct record_shape *shape, void *record, const struct spread *spread)
{
    double *variance = shape_doubles(shape, record) + shape->fastest_seconds + 2;
    ((struct record_base *)record)->rank = -1;
    if (shape->fastest == SHAPE_NONE)
        return;
    variance[0] = spread->seconds_squares / spread->ranks;
    variance[1] = spread->bytes_squares / spread->ranks;
}
