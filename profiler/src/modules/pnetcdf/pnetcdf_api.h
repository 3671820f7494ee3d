/* The part of PnetCDF's interface that is needed here, and access to the program's own PnetCDF library. The
 * profiler does not link PnetCDF, so programs without it are unaffected. MPI handles are pointers or ints,
 * depending on the MPI library; this code only passes them on. */
#ifndef IOLENS_PNETCDF_API_H
#define IOLENS_PNETCDF_API_H

#include <stdbool.h>
#include <stdint.h>

#include "../../system/path.h"

#ifndef IOLENS_MPI_TYPES
typedef intptr_t mpi_comm, mpi_info, mpi_type;
typedef long long mpi_offset;
#endif

enum { PNETCDF_RANK_MOST = 1024, PNETCDF_NAME_MOST = 4096 };

struct pnetcdf_calls {
    int (*inq_path)(int nc, int *length, char *path);
    int (*inq_put_size)(int nc, mpi_offset *bytes);
    int (*inq_get_size)(int nc, mpi_offset *bytes);
    int (*inq_var)(int nc, int var, char *name, int *type, int *rank, int *dimensions, int *attributes);
    int (*inq_varndims)(int nc, int var, int *rank);
    int (*inq_unlimdim)(int nc, int *dimension);
    int (*inq_dimlen)(int nc, int dimension, mpi_offset *length);
    int (*type_size)(mpi_type type, int *bytes); /* MPI_Type_size. */
    mpi_type type_null;                          /* The library's MPI_DATATYPE_NULL. */
};

/* Returns the library's functions; NULL, after one message, if some are missing. */
const struct pnetcdf_calls *pnetcdf_calls(void);

/* Writes the absolute path of an open file; returns false if there is none. */
bool pnetcdf_path(char path[PATH_BYTES], int nc);

#endif
