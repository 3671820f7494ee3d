#include "mpi_functions.h"

static const char *const NAMES[] = {
#define BY_HAND(name)                      "MPI_" #name,
#define MPI_CALL(kind, name, ...)          "MPI_" #name,
#define MPI_CALL_C(kind, name, ...)        "MPI_" #name,
#define MPI4_CALL(kind, name, ...)         "MPI_" #name,
#define MPI4_CALL_C(kind, name, ...)       "MPI_" #name,
#define MPI41_CALL(kind, name, ...)        "MPI_" #name,
#define MPI41_CALL_C(kind, name, ...)      "MPI_" #name,
#define COLLECTIVE(kind, name, iname, ...) "MPI_" #name, "MPI_" #iname, "MPI_" #name "_init",
#define SYNCHRONIZING                      COLLECTIVE
#include "../mpi_calls.def"
#undef BY_HAND
#undef MPI_CALL
#undef MPI_CALL_C
#undef MPI4_CALL
#undef MPI4_CALL_C
#undef MPI41_CALL
#undef MPI41_CALL_C
#undef COLLECTIVE
#undef SYNCHRONIZING
};

const char *mpi_function_name(uint32_t function) { return NAMES[function]; }
