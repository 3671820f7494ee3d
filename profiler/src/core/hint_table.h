/* The private table mpiio_hints: what the program asked MPI-IO for, and what the library said it does. */
#ifndef IOLENS_HINT_TABLE_H
#define IOLENS_HINT_TABLE_H

#include "../adapter.h"
#include "buffer.h"

/* This rank's chunk of the table. */
void hint_table_write(const struct iolens_transport *transport, struct buffer *out);

#endif
