/* The common parts of HDF5 datasets and PnetCDF variables: transfers of part of an array. */
#ifndef IOLENS_DATASET_H
#define IOLENS_DATASET_H

#include <stdbool.h>
#include <stdint.h>

#include "../system/spin.h"
#include "../records/patterns.h"

/* Where a record keeps its counters: the first of two that stand in a row, read before write. */
struct dataset_layout {
    int bytes, switches, longest_bytes, sizes_read, sizes_written; /* ints */
    int open_start, close_start, open_end, close_end;              /* doubles, as are those below */
    int transfer_start, transfer_end, transfer_time, longest, meta;
};

/* Running state beside a record. */
struct dataset {
    struct spin lock;
    int latest;         /* 0 nothing, 1 reading, 2 writing */
    double last_end[3]; /* read, write, meta */
    struct patterns patterns;
};

struct span {
    double t0, t1; /* seconds by iolens.clock */
};

/* All with the lock of `dataset` held. */
void dataset_opened(struct dataset *dataset, const struct dataset_layout *at, double *doubles,
                    struct span span);
void dataset_closed(struct dataset *dataset, const struct dataset_layout *at, double *doubles,
                    struct span span);
void dataset_meta(struct dataset *dataset, const struct dataset_layout *at, double *doubles,
                  struct span span);
void dataset_moved(struct dataset *dataset, const struct dataset_layout *at, int64_t *ints, double *doubles,
                   bool writing, const struct pattern *pattern, struct span span);

#endif
