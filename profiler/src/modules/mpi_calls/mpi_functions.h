/* The names of the MPI functions that are counted. */
#ifndef IOLENS_MPI_FUNCTIONS_H
#define IOLENS_MPI_FUNCTIONS_H

#include <stdint.h>

/* Returns the name of the function with a number below IOLENS_MPI_FUNCTIONS. */
const char *mpi_function_name(uint32_t function);

#endif
