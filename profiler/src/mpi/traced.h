/* The data counted for the calls in mpi_calls.def: each function here belongs to a kind of rows there.
 * Functions named before_ run ahead of the real call, those named failed_ after it returned an error, and
 * the others after it succeeded. */
#ifndef IOLENS_TRACED_H
#define IOLENS_TRACED_H

#include "traced_call.h"

/* Point-to-point calls. */
void traced_send(struct traced *c, MPI_Comm comm, int dest, int tag, int64_t bytes);
void traced_send_post(struct traced *c, MPI_Comm comm, MPI_Request request, int dest, int tag, int64_t bytes);
void before_receive(struct traced *c, MPI_Comm comm, int source, int tag, MPI_Status **status);
void traced_receive(struct traced *c, MPI_Comm comm);
void before_post(MPI_Comm comm, int source, int tag);
void traced_post(struct traced *c, MPI_Comm comm, MPI_Request request, int source, int tag, int64_t bytes);
void traced_exchange_post(const struct traced *c, MPI_Comm comm, int source, int64_t bytes,
                          MPI_Request request);
void traced_mprobe(const struct traced *c, MPI_Comm comm, MPI_Message message, bool found);
void before_matched(struct traced *c, MPI_Message message, MPI_Status **status);
void traced_matched(struct traced *c);
void traced_matched_post(struct traced *c, MPI_Request request);
void failed_matched(const struct traced *c);

/* Calls on persistent requests. */
void traced_send_init(const struct traced *c, MPI_Comm comm, int dest, int tag, int64_t bytes,
                      MPI_Request request);
void traced_receive_init(const struct traced *c, MPI_Comm comm, int source, int tag, MPI_Request request);
void traced_partitioned_init(const struct traced *c, MPI_Comm comm, int source, int64_t bytes,
                             MPI_Request request);
void traced_start(struct traced *c, MPI_Request request);
void traced_start_all(struct traced *c, int number, const MPI_Request *requests);

/* Calls that complete requests. */
void before_complete(struct traced *c, MPI_Request request, MPI_Status **status);
void traced_complete(struct traced *c);
void failed_complete(const struct traced *c, MPI_Request request);
void before_complete_many(struct traced *c, int number, const MPI_Request *requests, MPI_Status **statuses,
                          bool one_status);
void traced_complete_many(struct traced *c, int done, const int *indices);
bool failed_in_status(int code);
void failed_complete_many(struct traced *c, const MPI_Request *requests, int done, const int *indices);
void before_cancel(MPI_Request request);

/* A call that posts a non-blocking file transfer. */
void traced_transfer(double posted, struct iolens_mpiio_file *file, enum iolens_mpiio_kind kind,
                     int64_t asked, MPI_Request request, int64_t number);

/* Collective calls. */
void before_collective(MPI_Comm comm);
void traced_together(struct traced *c, const struct comm *of, int root, struct volume volume);
void traced_together_post(struct traced *c, const struct comm *of, int root, struct volume volume,
                          MPI_Request request);

/* Calls in which all or some ranks of a communicator make a new one. */
void traced_made(struct traced *c, MPI_Comm of, MPI_Comm made);
void traced_made_window(struct traced *c, MPI_Comm of, MPI_Win made);
void traced_made_by_some(struct traced *c, MPI_Comm made);
void traced_collective_init(const struct traced *c, const struct comm *of, int root, struct volume volume,
                            MPI_Request request);

/* One-sided calls. */
void traced_one_sided(MPI_Win win, int target, int64_t sent, int64_t received);
void traced_fence(struct traced *c, MPI_Win win);
void before_window_free(struct traced *c, MPI_Win win);
void traced_window_free(struct traced *c);

/* Counts the call with all facts that the functions above have set. */
void traced_end(struct traced *c, void *caller);

#endif
