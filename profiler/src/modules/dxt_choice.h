/* Which files, ranks and accesses are traced, and how much memory that may take. */
#ifndef IOLENS_DXT_CHOICE_H
#define IOLENS_DXT_CHOICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file;

struct dxt_choice {
    bool on;
    double small, unaligned; /* least share of such accesses in a file, 0 to 1; negative: any */
    size_t limit;            /* bytes that traces may take */
    atomic_size_t left;      /* of them not taken yet */
};

/* Reads iolens.settings once; a value of no use is said and left out. */
void dxt_choose(struct dxt_choice *choice);

/* By name and rank, when the file is first used. Before MPI_Init every rank will do. */
bool dxt_wants_file(const struct file *file);

/* By rank and by what the POSIX module counted for the file, at the end. */
bool dxt_keeps_file(const struct file *file, int64_t rank);

#endif
