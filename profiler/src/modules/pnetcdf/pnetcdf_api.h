/* PnetCDF's interface as far as it is needed here, and the program's own library behind it. Nothing is
 * linked: a program without PnetCDF never gets here. MPI's handles are pointers or ints, by the MPI library;
 * here they are only handed through. */
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
    int (*type_size)(mpi_type type, int *bytes); /* MPI's */
    mpi_type type_null;                          /* MPI_DATATYPE_NULL */
};

/* NULL when something is missing, which is said once. */
const struct pnetcdf_calls *pnetcdf_calls(void);

/* The absolute path of an open file; false when there is none. */
bool pnetcdf_path(char path[PATH_BYTES], int nc);

#endif
