/* The table of MPI calls: one row for each thread, function, region and place from which it was called. */
#ifndef IOLENS_MPI_CALLS_H
#define IOLENS_MPI_CALLS_H

#include "../../adapter.h"
#include "../../memory/buffer.h"
#include "../../system/clock.h"
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

/* Returns true if each call is kept with its times. */
bool mpi_events_wanted(void);

/* Records a call; `bytes` and `peer` are the size of its messages and the other rank, as in the row of the
 * table. */
void mpi_event_keep(const struct iolens_mpi_call *call, int64_t bytes, int peer);

enum mpi_way { MPI_WAY_RECEIVED, MPI_WAY_SENT, MPI_WAY_GOT, MPI_WAYS };

/* Counts a message to or from a rank of MPI_COMM_WORLD, or bytes fetched from its window; -1 stands for ranks
 * outside MPI_COMM_WORLD. */
void mpi_peer_add(int peer, int64_t bytes, enum mpi_way way);

/* Returns the name of the function with a number below IOLENS_MPI_FUNCTIONS. */
const char *mpi_function_name(uint32_t function);

/* Calls of MPI and of the file system, in the order of each process, with their times and with the data
 * that joins them to calls of other ranks. The report finds from them who waited for whom, and why
 * (IOLENS_WHY). */

/* Returns true if IOLENS_WHY asks for events. */
bool why_wanted(void);

/* Keeps a visit of the calling thread to a region as an event, if this is the first thread. */
void why_region_left(uint32_t region, double begin, double end);

/* Finds how long the first thread of a rank did not compute in the gaps between its calls: it was ready to
 * run and had no core, it waited for a page of a file, or it slept. */

/* State of the search for time between two calls in which the thread could not compute. Times are seconds
 * since this process started recording; 0: never. */
struct gaps {
    double read; /* Time of the latest reading of the thread's state. */
    struct usage usage;
    int64_t major_faults;
    double ended;         /* End of the latest call. */
    double entered, left; /* Begin of the latest call of MPI, and end of the latest one that was kept. */
};

/* The seconds in a gap by cause. */
struct held {
    double core, fault, sleep;
};

/* Returns true if the latest reading is so long ago that another reading costs little. */
bool gaps_due(const struct gaps *gaps, double now);

/* Returns how long each cause held up the thread in the gap between its latest call and the call from `t0` to
 * `now`; `now` equals `t0` if that call has not run yet. Returns zeros in a short gap, inside a call of MPI,
 * or if no reading is due. */
struct held gaps_look(struct gaps *gaps, double t0, double now);

/* Notes that a call of MPI ended. */
void gaps_left(struct gaps *gaps, double end);

#endif
