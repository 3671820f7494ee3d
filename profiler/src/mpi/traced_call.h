/* A wrapped call of MPI while it runs. */
#ifndef IOLENS_TRACED_CALL_H
#define IOLENS_TRACED_CALL_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "comms.h"
#include "core.h"
#include "requests.h"

enum { TRACED_FEW = 32 };

/* The running call: its times, and the values that must be kept across it. */
struct traced {
    double t0, t1;
    enum iolens_mpi_function function;
    bool linked; /* True if an event of the call is recorded (IOLENS_MPI_WHY). */
    MPI_Request handle;
    /* `status` points to where the library writes the status: the program's variable, or `own`. */
    MPI_Status own, *status;
    struct request request;
    bool known; /* True if the request `handle` is in the table of requests. */
    /* Number of requests of a completion call; 0 if none is known. */
    int number;
    MPI_Request few[TRACED_FEW], *handles;
    MPI_Status few_statuses[TRACED_FEW], *statuses;
    bool allocated, allocated_statuses;
    /* Number of requests that this call completed: file transfers, and others. */
    int transfers, others;
    struct iolens_mpiio_file *file;
};

/* The parts of MPI that are recorded: bits of enum iolens_mpi_tracing. */
extern unsigned traced_what;

#endif
