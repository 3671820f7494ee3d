/* Measures half the round trip of a message between two ranks. */
#ifndef COLLECTIVES_PINGPONG_H
#define COLLECTIVES_PINGPONG_H

#include "measure.h"

typedef struct Manner {
    const char *name;
    /* True if each receive is posted before the peer sends; else it is posted after the message has arrived.
     */
    bool posted;
} Manner;

enum { MANNER_COUNT = 2 };
extern const Manner MANNERS[MANNER_COUNT];

/* Measures the latency of messages between the two ranks of `comm`. Average, minimum, maximum and percentiles
 * are over the iterations on rank 0. Collective. */
Latency pingpong(const Manner *manner, long long bytes, int iterations, MPI_Comm comm);

#endif
