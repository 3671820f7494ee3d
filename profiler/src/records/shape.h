/* The shape of a fixed-size record: 64-bit id and rank, int64 counters, double counters, and how each of them
 * is merged when a file was used by every rank and its records become one with rank -1. */
#ifndef IOLENS_SHAPE_H
#define IOLENS_SHAPE_H

#include "frequent_values.h"

enum merge {
    MERGE_SUM, /* Adds the values; a negative value means "not available", and the sum stays -1. */
    MERGE_MAX,
    MERGE_FIRST, /* Takes the value of the lowest rank that has one other than 0. */
    MERGE_BEGIN, /* Takes the earliest time stamp that is not 0. */
    MERGE_END,   /* Takes the latest time stamp. */
    MERGE_APART  /* Does not merge this counter by itself: it belongs to one of the groups that the fields of
                    record_shape below describe. */
};

struct timeline;

enum { SHAPE_NONE = -1, SHAPE_MOST_BYTES = 2048, TOP_VALUES = 4 };

struct record_shape {
    int ints, doubles;
    const unsigned char *int_merge, *double_merge; /* How each counter is merged: an array of enum merge for
                                                      the ints and one for the doubles. */
    int top[2]; /* Position among the ints of the four most frequent values, followed by their four counts;
                 * SHAPE_NONE if absent. */
    struct longest {
        /* Positions of the double with the time of the longest operation, and of the int with its size; both
         * SHAPE_NONE if absent. */
        int seconds, bytes;
    } longest[2];
    /* Position among the ints of the four most frequent access patterns, followed by their four counts
     * (patterns.h); 0 if absent. */
    int patterns;
    /* Position of four ints in the record: fastest rank, its bytes, slowest rank, its bytes; SHAPE_NONE if
     * absent. */
    int fastest;
    /* Position of four doubles in the record: time of the fastest rank, of the slowest rank, variance of
     * time, variance of bytes. */
    int fastest_seconds;
    int seconds[3]; /* Positions of the doubles whose sum is a rank's I/O time: read, write, metadata. */
    int bytes[2];   /* Positions of the ints whose sum is a rank's bytes: read, written. */
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

/* Corrects all durations, and converts the time stamps to the job's clock, except those that are 0. */
void shape_correct_times(const struct record_shape *shape, void *record, const struct timeline *line);

/* Prepares one rank's record for merging: this rank is the fastest and the slowest. */
void shape_share(const struct record_shape *shape, void *record, int64_t rank, struct spread *spread);

/* Merges the record of lower ranks into the record of higher ranks. The lists of most frequent values are
 * merged elsewhere, from all values that were kept (frequent_values.h). */
void shape_merge(const struct record_shape *shape, const void *lower, void *inout);
void spread_merge(const struct spread *lower, struct spread *inout);

/* Returns how many lists of frequent values the record has (at most 2), and the words of a value in each. */
int shape_lists(const struct record_shape *shape, int words[2]);

/* Writes the four most frequent values of a list to the record. */
void shape_put_list(const struct record_shape *shape, void *record, int list, const struct kept_values *kept);

/* Writes rank -1 and the variances to a merged record. */
void shape_finish_shared(const struct record_shape *shape, void *record, const struct spread *spread);

#endif
