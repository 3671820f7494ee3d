/* Requests of which something must be known when they are completed: from the handle to that. Requests of
 * other kinds (of sends, of collective calls) are here only with IOLENS_MPI_WHY. Each thread finds those of
 * others. */
#ifndef IOLENS_REQUESTS_H
#define IOLENS_REQUESTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "comms.h"
#include "core.h"

enum request_kind {
    REQUEST_RECEIVE,
    REQUEST_PERSISTENT_RECEIVE,
    REQUEST_PARTITIONED_RECEIVE,
    REQUEST_PERSISTENT_SEND,
    REQUEST_PERSISTENT_COLLECTIVE,
    REQUEST_EXCHANGE, /* the receiving half of MPI_Isendrecv */
    REQUEST_POSTED,   /* a send or a collective call whose completion alone is wanted */
    REQUEST_FILE
};

struct request {
    enum request_kind kind;
    double posted; /* when the call that made it had returned */
    bool active;   /* of a persistent one: started */
    bool may_be_cancelled;
    struct comm *comm; /* held; of receives */
    int peer;          /* of persistent ones and exchanges: rank of MPI_COMM_WORLD, MPI_PROC_NULL: none */
    int64_t sent, received; /* of the same, each time */
    struct iolens_mpiio_file *file;
    int64_t number; /* of the event that posted it (IOLENS_MPI_WHY); -1: none */
    /* From which that event is made when a persistent request is started. */
    uint32_t communicator;
    int tag, size;
};

/* Several threads may be in the library at once (MPI_THREAD_MULTIPLE). */
void requests_of_threads(void);

/* True when none is known: nothing need be looked up. */
bool requests_none(void);

/* Remember. What was known of this handle stays for one more turn: a thread may still be in the call that
 * completed it, while the library has given the handle to another one. */
void requests_put(MPI_Request handle, struct request request);

/* The handle is that of a request of another kind now, which was made by `then`: whoever completes it finds
 * nothing, while a thread that is still in the call that completed the one before finds that one. */
void requests_pass(MPI_Request handle, double then);

/* The newest that was posted `until` then; false when nothing is known. */
bool requests_find(MPI_Request handle, double until, struct request *request);

/* Change the newest request of this handle, and forget the newest one that was posted `until` then. */
void requests_set(MPI_Request handle, bool active, bool may_be_cancelled);
void requests_set_number(MPI_Request handle, int64_t number);
void requests_forget(MPI_Request handle, double until);

#endif
