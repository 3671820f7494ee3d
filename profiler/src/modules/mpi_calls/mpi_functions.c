#include "mpi_functions.h"

static const char *const NAMES[] = {
#define NAME(name) "MPI_" #name,
#include "../../mpi_call_names.def"
#undef NAME
};

const char *mpi_function_name(uint32_t function) { return NAMES[function]; }
