/* The bytes that a file view shows, from its file type. */
#ifndef IOLENS_VIEWS_H
#define IOLENS_VIEWS_H

#include <mpi.h>

#include "core.h"

/* Take the file type apart and report it for the traced file. */
void views_report(const struct iolens_mpiio_file *file, MPI_Offset displacement, MPI_Datatype filetype,
                  double t0, double t1);

#endif
