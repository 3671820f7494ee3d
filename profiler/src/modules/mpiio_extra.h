/* MPI-IO calls that Darshan's record has no slot for; their events are declared in ../adapter.h. */
#ifndef IOLENS_MPIIO_EXTRA_H
#define IOLENS_MPIIO_EXTRA_H

#include <stdint.h>

#include "../adapter.h"
#include "../core/buffer.h"
#include "../core/spin.h"

struct mpiio_extra {
    struct spin lock;
    int64_t calls[IOLENS_MPIIO_EXTRAS];
    double seconds[IOLENS_MPIIO_EXTRAS];
};

/* The table of the private region mpiio_extra: this rank's rows. */
void mpiio_extra_table_write(const struct iolens_transport *transport, struct buffer *out);

#endif
