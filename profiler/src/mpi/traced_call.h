/* A wrapped call of MPI while it runs. */
#ifndef IOLENS_TRACED_CALL_H
#define IOLENS_TRACED_CALL_H

#include "comms.h"
#include "core.h"

/* A table of pending requests: from the handle to the facts that are needed when the request completes.
 * Requests of sends and collective calls are stored only with IOLENS_MPI_WHY. A thread also finds requests of
 * other threads. */

enum request_kind {
    REQUEST_RECEIVE,
    REQUEST_PERSISTENT_RECEIVE,
    REQUEST_PARTITIONED_RECEIVE,
    REQUEST_PERSISTENT_SEND,
    REQUEST_PERSISTENT_COLLECTIVE,
    REQUEST_EXCHANGE, /* The receiving half of MPI_Isendrecv. */
    REQUEST_POSTED,   /* A send or a collective call; only its completion is recorded. */
    REQUEST_FILE
};

struct request {
    enum request_kind kind;
    double posted; /* Time at which the call that made the request returned. */
    bool active;   /* True for a persistent request that was started. */
    bool may_be_cancelled;
    struct comm *comm; /* Communicator of a receive; holds a reference. */
    int peer; /* For persistent requests and exchanges: a rank of MPI_COMM_WORLD, or IOLENS_NOBODY. */
    int64_t sent, received; /* For persistent requests and exchanges: bytes of each start. */
    struct iolens_mpiio_file *file;
    /* For transfers of a file: their kind, and the bytes asked for, with which they were counted. */
    enum iolens_mpiio_kind transfer;
    int64_t asked;
    int64_t number; /* Number of the event that posted the request (IOLENS_MPI_WHY); -1: none. */
    /* Facts for the event that is recorded each time a persistent request is started. */
    uint32_t communicator;
    int tag, size;
};

/* Makes the table lock its entries, because several threads may be in the library at once
 * (MPI_THREAD_MULTIPLE). */
void requests_of_threads(void);

/* Returns true if no requests are pending, so that lookups can be skipped. */
bool requests_none(void);

/* Stores a request. An older entry of the same handle stays until the handle is stored once more: a thread
 * may still be in the call that completed the old request after the library has reused its handle. */
void requests_put(MPI_Request handle, struct request request);

/* Notes that the handle has belonged to a request of another kind since the time `then`. A call that
 * completes the new request finds no entry; a thread that is still completing the old request finds its
 * entry. */
void requests_pass(MPI_Request handle, double then);

/* Returns the newest request of this handle that was posted before `until`; false if there is none. */
bool requests_find(MPI_Request handle, double until, struct request *request);

/* Changes the newest request of this handle, or removes the newest one that was posted before `until`. */
void requests_set(MPI_Request handle, bool active, bool may_be_cancelled);
void requests_set_number(MPI_Request handle, int64_t number);
void requests_forget(MPI_Request handle, double until);

/* Computes how many bytes a collective call takes from this rank's buffers and how many it writes to them,
 * including the part that the rank sends to itself. */

struct volume {
    int64_t sent, received;
};

/* An array of counts: int, or MPI_Count in the functions whose names end in _c. */
struct counts {
    const void *array;
    bool wide;
};

int64_t bytes_of(int64_t count, MPI_Datatype type);

struct volume volume_bcast(const struct comm *comm, int root, int64_t bytes);
struct volume volume_reduce(const struct comm *comm, int root, int64_t bytes);
struct volume volume_gather(const struct comm *comm, int root, int64_t sent, int64_t received);
struct volume volume_scatter(const struct comm *comm, int root, int64_t sent, int64_t received);

/* Returns the bytes of an all-to-all exchange. `sent` is -1 for an exchange in place, which sends as many
 * bytes as it receives. */
struct volume volume_exchange(int64_t sent, int64_t received);

/* Returns the sum of the bytes of `many` blocks, except those marked in `without` (NULL marks none). */
int64_t bytes_of_all(int many, struct counts counts, MPI_Datatype type, const bool *without);
int64_t bytes_of_types(int many, struct counts counts, const MPI_Datatype *types, const bool *without);

/* Returns true if the root's arguments are used on this rank. */
bool volume_is_root(const struct comm *comm, int root);

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
