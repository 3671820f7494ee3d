/* The data counted for the calls in mpi_calls.def: each function here belongs to a kind of rows there.
 * Functions named before_ run ahead of the real call, those named failed_ after it returned an error, and
 * the others after it succeeded. */
#ifndef IOLENS_TRACED_H
#define IOLENS_TRACED_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "comms.h"
#include "core.h"
#include "requests.h"
#include "volumes.h"

enum { TRACED_FEW = 32 };

/* The running call: its times, and the values that must be kept across it. */
struct traced {
    double t0, t1;
    MPI_Request handle;
    MPI_Status own, *status; /* `status` is where the library writes: the program's, or `own` */
    struct request request;
    bool known; /* something is known of `handle` */
    /* Number of requests of a completion call; 0 if none is known. */
    int number;
    MPI_Request few[TRACED_FEW], *handles;
    MPI_Status few_statuses[TRACED_FEW], *statuses;
    bool allocated, allocated_statuses;
    /* Completed here. */
    int transfers, others;
    struct iolens_mpiio_file *file;
};

/* Bits of enum iolens_mpi_tracing. */
extern unsigned traced_what;

/* Point to point. */
void traced_send(MPI_Comm comm, int dest, int64_t bytes);
void before_receive(struct traced *c, MPI_Comm comm, int source, int tag, MPI_Status **status);
void traced_receive(const struct traced *c, MPI_Comm comm);
void before_post(MPI_Comm comm, int source, int tag);
void traced_post(const struct traced *c, MPI_Comm comm, MPI_Request request, int source, int64_t bytes);
void traced_exchange_post(const struct traced *c, MPI_Comm comm, int source, int64_t bytes,
                          MPI_Request request);
void traced_mprobe(const struct traced *c, MPI_Comm comm, MPI_Message message, bool found);
void before_matched(struct traced *c, MPI_Message message, MPI_Status **status);
void traced_matched(struct traced *c);
void traced_matched_post(struct traced *c, MPI_Request request);
void failed_matched(const struct traced *c);

/* Persistent. */
void traced_send_init(const struct traced *c, MPI_Comm comm, int dest, int64_t bytes, MPI_Request request);
void traced_receive_init(const struct traced *c, MPI_Comm comm, int source, MPI_Request request);
void traced_partitioned_init(const struct traced *c, MPI_Comm comm, int source, int64_t bytes,
                             MPI_Request request);
void traced_start(MPI_Request request);
void traced_start_all(int number, const MPI_Request *requests);

/* Completion. */
void before_complete(struct traced *c, MPI_Request request, MPI_Status **status);
void traced_complete(struct traced *c);
void failed_complete(const struct traced *c, MPI_Request request);
void before_complete_many(struct traced *c, int number, const MPI_Request *requests, MPI_Status **statuses,
                          bool one_status);
void traced_complete_many(struct traced *c, int done, const int *indices);
bool failed_in_status(int code);
void failed_complete_many(struct traced *c, const MPI_Request *requests, int done, const int *indices);
void before_cancel(MPI_Request request);

/* A non-blocking transfer of a file was posted. */
void traced_transfer(double posted, struct iolens_mpiio_file *file, MPI_Request request);

/* Collective. */
void before_collective(MPI_Comm comm);
void traced_collective(struct volume volume);
void traced_collective_init(const struct traced *c, struct volume volume, MPI_Request request);

/* One-sided. */
void traced_one_sided(MPI_Win win, int target, int64_t sent, int64_t received);

/* Count the call, with all that was said of it. */
void traced_end(struct traced *c, enum iolens_mpi_function function, void *caller);

#endif
