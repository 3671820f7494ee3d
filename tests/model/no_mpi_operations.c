/* An empty table of MPI operations, for an interpreter that is built without MPI. */
#include "interpreter.h"

const struct operation mpi_operations[] = {{0}};
