/* The common parts of HDF5 datasets and PnetCDF variables: transfers of part of an array. */
#ifndef IOLENS_DATASET_H
#define IOLENS_DATASET_H

#include <stdbool.h>
#include <stdint.h>

#include "../system/spin.h"
#include "../records/patterns.h"

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

#endif
