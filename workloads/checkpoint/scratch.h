/* A file of one packet that is written, closed and removed. */
#ifndef CHECKPOINT_SCRATCH_H
#define CHECKPOINT_SCRATCH_H

#include "fail.h"

/* Writes netCDF-4 with one variable, or one sequential Fortran record. A binary file must not exist
 * before. */
void scratch_write(const char *path, bool netcdf, const float *packet, size_t cells, Trouble *trouble);

#endif
