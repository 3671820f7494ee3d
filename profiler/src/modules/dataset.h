/* The common parts of HDF5 datasets and PnetCDF variables: transfers of part of an array. */
#ifndef IOLENS_DATASET_H
#define IOLENS_DATASET_H

#include "../records/patterns.h"
#include "../system/spin.h"

/* Positions of a record's counters; each field is the position of the counter for reading, and the counter
 * for writing follows it. */
struct dataset_layout {
    /* Positions among the integer counters. */
    int bytes, switches, longest_bytes, sizes_read, sizes_written;
    /* Positions among the double counters. */
    int open_start, close_start, open_end, close_end;
    int transfer_start, transfer_end, transfer_time, longest, meta;
};

/* State of a dataset that is kept beside its record while the process runs. */
struct dataset {
    struct spin lock;
    int latest;         /* Direction of the latest transfer: 0 none, 1 read, 2 write. */
    double last_end[3]; /* End of the latest read, write and metadata operation. */
    struct patterns patterns;
};

struct span {
    double t0, t1; /* Begin and end of an operation, in seconds by iolens.clock. */
};

/* These functions count an operation on a dataset. The caller must hold the lock of `dataset`. */
void dataset_opened(struct dataset *dataset, const struct dataset_layout *at, double *doubles,
                    struct span span);
void dataset_closed(struct dataset *dataset, const struct dataset_layout *at, double *doubles,
                    struct span span);
void dataset_meta(struct dataset *dataset, const struct dataset_layout *at, double *doubles,
                  struct span span);
void dataset_moved(struct dataset *dataset, const struct dataset_layout *at, int64_t *ints, double *doubles,
                   bool writing, const struct pattern *pattern, struct span span);

enum { IDS_BUCKETS = 256 };

struct id {
    int64_t key;
    void *state;
    struct id *next;
};

struct ids {
    struct spin lock;
    struct id *buckets[IDS_BUCKETS];
    struct id *free;
};

/* Stores the state of a key and replaces an earlier one; without memory nothing is stored. */
void ids_put(struct ids *ids, int64_t key, void *state);

/* Returns the state of a key; NULL if the key is unknown, or while recording is switched off. */
void *ids_find(struct ids *ids, int64_t key);

/* Removes a key from the map and returns its state. */
void *ids_take(struct ids *ids, int64_t key);

/* Removes one key between `first` and `last` and returns its state; NULL if there is none. */
void *ids_take_between(struct ids *ids, int64_t first, int64_t last);

#endif
