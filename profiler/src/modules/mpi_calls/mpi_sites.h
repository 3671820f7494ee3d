/* The table of MPI calls: one row for each thread, function, region and place from which it was called. */
#ifndef IOLENS_MPI_SITES_H
#define IOLENS_MPI_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include "../../memory/buffer.h"
#include "../../tables/keyed.h"

/* The bytes of an MPI call that Darshan's APMPI record counts, and the size classes by which the record
 * counts messages. */

enum { APMPI_SIZES = 6 };

/* Kinds of bytes that an operation counts, as bits. */
enum mpi_moves { APMPI_NONE = 0, APMPI_SENT = 1, APMPI_RECEIVED = 2, APMPI_BOTH = 3, APMPI_POSTED = 4 };

/* Returns the size class of a message; the upper bounds are 256 B, 1 KiB, 8 KiB, 256 KiB and 1 MiB
 * (inclusive). */
static inline int apmpi_size_class(int64_t bytes)
{
    return (bytes > 256) + (bytes > 1024) + (bytes > 8192) + (bytes > 262144) + (bytes > 1048576);
}

enum { MPI_SIZES = 7 };

/* Facts about a call that are known before it is counted. */
struct mpi_pending {
    int64_t sent, received, posted, messages, late;
    int64_t sizes[MPI_SIZES];
    int size; /* Size class of the latest message. */
    int peer; /* Rank at the other end of the latest message; -1: none. */
    double sync;
};

struct mpi_site_key {
    uint32_t function, region, node, thread;
};

struct mpi_site {
    int64_t calls, sent, received, messages, late;
    int64_t sizes[MPI_SIZES];
    /* Bytes, and calls by size class, as Darshan's APMPI counts them. */
    int64_t moved, moved_sizes[APMPI_SIZES];
    double time, min_time, max_time, sync;
};

/* Returns the size class of a message. Classes end below 16 B, 256 B, 4 KiB, 64 KiB, 1 MiB and 16 MiB. */
static inline int mpi_size_class(int64_t bytes)
{
    int bits = bytes > 0 ? 64 - __builtin_clzll((uint64_t)bytes) : 0;
    int class = (bits - 1) / 4;
    return bits < 5 ? 0 : class < MPI_SIZES - 1 ? class : MPI_SIZES - 1;
}

/* Iterates over the rows of this process. `state` is the state of TABLE_mpi_sites, or NULL. */
struct keyed_row *mpi_sites_first(const void *state);
const struct mpi_site *mpi_site_of(struct keyed_row *row);

/* The shape of the table's rows, the check of a row from a spool, and the hook that runs when the settings
 * are known. */
extern const struct keyed_shape mpi_sites_shape;
bool mpi_site_is_sound(const void *key, const void *value);
void mpi_sites_start(void);

/* Measures what recording a call takes, when recording has ended. */
void mpi_sites_end(void);

/* Returns the least time, in seconds, that recording this many calls took in this process; NaN if it was not
 * measured: the process was killed, several callers of each call are recorded, or all calls were in
 * regions. */
double mpi_sites_recording(int64_t calls);

#endif
