/* Decodes a file view's file type to find the bytes that the view shows. */
#ifndef IOLENS_VIEWS_H
#define IOLENS_VIEWS_H

#include <mpi.h>

#include "core.h"

/* Decodes the file type and reports the view for a traced file. */
void views_report(const struct iolens_mpiio_file *file, MPI_Offset displacement, MPI_Datatype filetype,
                  double t0, double t1);

#endif
