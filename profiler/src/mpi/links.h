/* Keeps what joins a call to the calls of other ranks, if IOLENS_MPI_WHY is asked for; else these functions
 * do nothing and return -1. Those that keep an event return its number on this rank. */
#ifndef IOLENS_LINKS_H
#define IOLENS_LINKS_H

#include "traced_call.h"

/* A rank of `comm` and a tag as they stand in an event. */
int link_peer(const struct comm *comm, int peer);
int link_tag(int tag);

/* `peer` is a rank of `comm`, which may be NULL. */
int64_t link_message(struct traced *c, enum iolens_link_kind kind, const struct comm *comm, int peer, int tag,
                     int64_t bytes);

/* The message that a receive brought: its source and tag stand in the status. */
int64_t link_received(struct traced *c, const struct comm *comm, const MPI_Status *status, int64_t bytes);

/* The message or collective call that the event `request` posted is complete. `status` is that of a receive,
 * or NULL. */
void link_completed(struct traced *c, const struct request *request, const MPI_Status *status,
                    bool cancelled);

int64_t link_collective(struct traced *c, enum iolens_link_kind kind, const struct comm *comm, int root,
                        struct volume volume);

/* A persistent request was started. */
int64_t link_started(struct traced *c, const struct request *request);

/* A collective call on a file, of that name. */
void link_file(uint32_t communicator, int size, const char *name, double t0, double t1);

/* MPI_Init and MPI_Finalize, in which all ranks take part. */
void link_world(const struct iolens_mpi_call *call);

/* A call without any event yet is kept with its times alone. */
void link_rest(struct traced *c);

#endif
