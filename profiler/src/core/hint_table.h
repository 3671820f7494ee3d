/* The private table mpiio_hints: what the program asked MPI-IO for, and what the library said it does. */
#ifndef IOLENS_HINT_TABLE_H
#define IOLENS_HINT_TABLE_H

#include "buffer.h"

void hint_table_write(struct buffer *out);

#endif
