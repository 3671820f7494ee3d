/* The private regions behind Darshan's, as described in LOG.md: job, file_ranks, mpiio_hints, and their
 * directory. */
#ifndef IOLENS_PRIVATE_H
#define IOLENS_PRIVATE_H

#include "../adapter.h"
#include "buffer.h"
#include "writer.h"

/* Collective. Write the private regions, the directory and the footer. `partial[m]`: ranks on which module m
 * had to leave files out. */
void private_write(struct writer *writer, const struct iolens_transport *transport, const int64_t *partial);

#endif
