/* The MPI library's predefined handles and functions, found at run time: the adapter is preloaded into
 * programs that may never load MPI, so it must not depend on the library at link time. */
#ifndef IOLENS_HANDLES_H
#define IOLENS_HANDLES_H

#include <mpi.h>
#include <stdbool.h>

struct mpi_handles {
    MPI_Comm world, self, no_comm;
    MPI_Request no_request;
    MPI_Datatype byte, int64, uint64, real64;
    MPI_Op min, max, sum, band, no_op;
    MPI_Info info_null;
};

/* MPI's functions that the adapter itself calls, under their profiling names (PMPI_). */
struct mpi_calls {
#define CALL(name) __typeof__(&PMPI_##name) name;
#include "calls.def"
#undef CALL
};

extern struct mpi_handles mpi;
extern struct mpi_calls pmpi;

/* Returns the next definition of `name` after this library; else the one in an MPI library that was loaded
 * locally, as plug-ins and Python modules do; else NULL. */
void *mpi_symbol(const char *name);

/* Fills `pmpi` and `mpi`. Returns false, after one message, if the program's MPI is not the one that this
 * adapter was built for. Must be called after MPI_Init. */
bool mpi_handles_load(void);

/* Returns the MPI library's own name and version in one line; valid after mpi_handles_load. */
const char *mpi_library(void);

#endif
