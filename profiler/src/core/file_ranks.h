/* The private table file_ranks: what each rank did to the files that several ranks used. */
#ifndef IOLENS_FILE_RANKS_H
#define IOLENS_FILE_RANKS_H

#include "../adapter.h"
#include "buffer.h"

/* Collective. This rank's chunk of the table. */
void file_ranks_write(const struct iolens_transport *transport, struct buffer *out);

#endif
