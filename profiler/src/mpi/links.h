/* Records the events that link a call to calls of other ranks, if IOLENS_MPI_WHY is set. Otherwise these
 * functions do nothing and return -1. Functions that record an event return its number on this rank. */
#ifndef IOLENS_LINKS_H
#define IOLENS_LINKS_H

#include "traced_call.h"

/* Returns the time at which a call begins, in seconds by the core's clock. */
static inline double link_start(void)
{
    double now = iolens_now();
    return __builtin_expect(traced_what & IOLENS_MPI_WHY, 0) ? iolens_mpi_enter(now) : now;
}

/* Convert a rank of `comm`, and a tag, to the values that an event has. */
int link_peer(const struct comm *comm, int peer);
int link_tag(int tag);

/* Records a message and returns the number of its event. `peer` is a rank of `comm`, which may be NULL. */
int64_t link_message(struct traced *c, enum iolens_link_kind kind, const struct comm *comm, int peer, int tag,
                     int64_t bytes);

/* Records a received message; its source and tag are in the status. */
int64_t link_received(struct traced *c, const struct comm *comm, const MPI_Status *status, int64_t bytes);

/* Records that a message or collective call, which was posted by the event in `request`, is complete.
 * `status` is the status of a receive, or NULL. */
void link_completed(struct traced *c, const struct request *request, const MPI_Status *status,
                    bool cancelled);

int64_t link_collective(struct traced *c, enum iolens_link_kind kind, const struct comm *comm, int root,
                        struct volume volume);

/* Records the neighbours of this rank in the topology of a communicator that this call has made. */
void link_neighbours(struct traced *c, MPI_Comm handle);

/* Record that an epoch of one-sided communication begins or ends: with the rank `target` of the window, with
 * each rank of `group`, and with all ranks of the window or those that the epoch began with. */
void link_epoch(struct traced *c, MPI_Win win, int target, bool exclusive);
void link_epoch_of_group(struct traced *c, MPI_Win win, MPI_Group group);
void link_epoch_of_all(struct traced *c, MPI_Win win);

/* Records the start of a persistent request. */
int64_t link_started(struct traced *c, const struct request *request);

/* Records a collective call on a file, or the posting of one; `name` is the function. Returns the event's
 * number; -1: none. */
int64_t link_file(enum iolens_link_kind kind, uint32_t communicator, int size, const char *name, double t0,
                  double t1);

/* Records a call such as MPI_Init, in which all ranks of `comm` take part. */
void link_all(const struct iolens_mpi_call *call, MPI_Comm comm);

/* Records a call with its times, if no other function has recorded an event for it. */
void link_rest(struct traced *c);

/* Returns the bytes of `count` elements; -1 if that is not known. */
int64_t asked_bytes(MPI_Count count, MPI_Datatype type);

/* Returns the bytes that a status tells of a transfer for which `asked` bytes were asked. Returns `asked` if
 * the library has set no count, or one that cannot be. */
int64_t moved_bytes(const MPI_Status *status, int64_t asked);

#endif
