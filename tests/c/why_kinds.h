/* Patterns of waiting between four ranks, written from the MPI standard: each has one planted delay
 * (why_delay.h). */
#ifndef WHY_KINDS_H
#define WHY_KINDS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "why_delay.h"

enum { SMALL = 8, LARGE = 1 << 20, RANKS = 4 };

struct why_kind {
    const char *name;
    void (*run)(void);
};

/* Rank in MPI_COMM_WORLD, set before a pattern runs. */
extern int kind_rank;
/* Buffers of RANKS * LARGE bytes. */
extern char kind_sent[], kind_received[];

/* True on the rank that is to be late. */
static inline bool rank_is(int one) { return kind_rank == one; }

/* Lists of patterns that end with a row without a name. */
extern const struct why_kind posted_kinds[], persistent_kinds[], group_kinds[], process_kinds[],
    window_kinds[], message_kinds[], collective_kinds[], outside_kinds[];

/* The part of a spawned process: returns false if this process was not spawned by a pattern. */
bool kind_of_child(int argc, char **argv);

#endif
