/* The private regions of the log, which follow Darshan's regions and are described in LOG.md, and the
 * directory of these regions. */
#ifndef IOLENS_PRIVATE_H
#define IOLENS_PRIVATE_H

#include "../adapter.h"
#include "../memory/buffer.h"
#include "writer.h"

/* Collective. Adds the private regions. Returns the index of the first one. */
int private_add(struct writer *writer, const struct iolens_transport *transport);

/* Writes the directory and the footer on rank 0, after all regions have got their places. */
void private_finish(struct writer *writer, int first);

#endif
