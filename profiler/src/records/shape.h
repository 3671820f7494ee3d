/* The shape of a fixed-size record: 64-bit id and rank, int64 counters, double counters, and how each of them
 * is merged when a file was used by every rank and its records become one with rank -1. */
#ifndef IOLENS_SHAPE_H
#define IOLENS_SHAPE_H

#include <stddef.h>
#include <stdint.h>

#include "kept_values.h"

enum merge {
    MERGE_SUM, /* a negative value means "not available" and stays -1 */
    MERGE_MAX,
    MERGE_FIRST, /* the lowest rank's value that is not 0 */
    MERGE_BEGIN, /* time stamp: the earliest that is not 0 */
    MERGE_END,   /* time stamp: the latest */
    MERGE_APART  /* merged together with others, by the fields of record_shape below */
};

struct timeline;

enum { SHAPE_NONE = -1, SHAPE_MOST_BYTES = 2048, TOP_VALUES = 4 };

struct record_shape {
    int ints, doubles;
    const unsigned char *int_merge, *double_merge; /* enum merge per counter */
    int top[2]; /* first of four values followed by their four counts, or SHAPE_NONE */
    struct longest {
        int seconds, bytes; /* double: longest operation; int: its size. SHAPE_NONE in both: absent */
    } longest[2];
    int patterns;        /* first of four access patterns followed by their four counts (patterns.h), or 0 */
    int fastest;         /* ints: fastest rank, its bytes, slowest rank, its bytes; SHAPE_NONE: no extremes */
    int fastest_seconds; /* doubles: fastest, slowest, variance of time, variance of bytes */
    int seconds[3];      /* doubles whose sum is a rank's I/O time: read, write, meta */
    int bytes[2];        /* ints whose sum is a rank's bytes: read, written */
};

struct record_base {
    uint64_t id;
    int64_t rank;
};

/* Sums for the population variance over ranks, merged pairwise (Chan, Golub, LeVeque 1979). */
struct spread {
    double ranks, seconds, seconds_squares, bytes, bytes_squares;
};

size_t shape_bytes(const struct record_shape *shape);
int64_t *shape_ints(void *record);
double *shape_doubles(const struct record_shape *shape, void *record);

/* Correct all durations, and move the time stamps that are not 0 to the job's clock. */
void shape_correct_times(const struct record_shape *shape, void *record, const struct timeline *line);

/* Make one rank's record ready for merging: this rank is the fastest and the slowest. */
void shape_share(const struct record_shape *shape, void *record, int64_t rank, struct spread *spread);

/* Merge the record of a lower rank range into that of a higher one, but for the lists of its most frequent
 * values: they are merged with all that was kept of them (kept_values.h). */
void shape_merge(const struct record_shape *shape, const void *lower, void *inout);
void spread_merge(const struct spread *lower, struct spread *inout);

/* How many such lists the record has (at most 2), and the words of a value in each. */
int shape_lists(const struct record_shape *shape, int words[2]);

/* Write the most frequent four values of a list to the record. */
void shape_put_list(const struct record_shape *shape, void *record, int list, const struct kept_values *kept);

/* Write rank -1 and the variances. */
void shape_finish_shared(const struct record_shape *shape, void *record, const struct spread *spread);

#endif
