#include "traced.h"

#include <math.h>

#include "core.h"
#include "handles.h"
#include "links.h"

static void count_send(const struct comm *comm, int dest, int64_t bytes)
{
    iolens_mpi_sent(comm ? comm_world_rank(comm, dest) : -1, bytes);
}

/* Counts a message that is sent; one to MPI_PROC_NULL does not count. */
void traced_send(struct traced *c, MPI_Comm handle, int dest, int tag, int64_t bytes)
{
    if (dest == MPI_PROC_NULL)
        return;
    const struct comm *comm = comm_of(handle);
    count_send(comm, dest, bytes);
    link_message(c, IOLENS_LINK_SEND, comm, dest, tag, bytes);
}

/* Stores a posted request if its completion is to be linked to the event `number`; a negative number means
 * that there is no event. */
static void remember_post(const struct traced *c, MPI_Request request, int64_t number)
{
    if (number < 0)
        requests_pass(request, c->t1);
    else
        requests_put(request, (struct request){.kind = REQUEST_POSTED, .posted = c->t1, .number = number});
}

void traced_send_post(struct traced *c, MPI_Comm handle, MPI_Request request, int dest, int tag,
                      int64_t bytes)
{
    int64_t number = -1;
    if (dest != MPI_PROC_NULL) {
        const struct comm *comm = comm_of(handle);
        count_send(comm, dest, bytes);
        number = link_message(c, IOLENS_LINK_POST_SEND, comm, dest, tag, bytes);
    }
    remember_post(c, request, number);
}

static void look_for_message(MPI_Comm comm, int source, int tag)
{
    int there = 0;
    MPI_Status status;
    if ((traced_what & IOLENS_MPI_LATE_RECEIVES) && source != MPI_PROC_NULL &&
        pmpi.Iprobe(source, tag, comm, &there, &status) == MPI_SUCCESS && there)
        iolens_mpi_late();
}

static void use_status(struct traced *c, MPI_Status **status)
{
    if (*status == MPI_STATUS_IGNORE)
        *status = &c->own;
    c->status = *status;
}

void before_receive(struct traced *c, MPI_Comm comm, int source, int tag, MPI_Status **status)
{
    use_status(c, status);
    look_for_message(comm, source, tag);
}

/* Counts a received message and returns its bytes; -1 if no message was received. */
static int64_t count_message(const struct comm *comm, const MPI_Status *status)
{
    MPI_Count bytes = 0;
    if (status->MPI_SOURCE == MPI_PROC_NULL || status->MPI_SOURCE == MPI_ANY_SOURCE ||
        pmpi.Get_elements_x(status, mpi.byte, &bytes) != MPI_SUCCESS)
        return -1;
    bytes = bytes < 0 ? 0 : bytes;
    iolens_mpi_received(comm ? comm_world_rank(comm, status->MPI_SOURCE) : -1, (int64_t)bytes);
    return (int64_t)bytes;
}

static void count_received(struct traced *c, const struct comm *comm)
{
    int64_t bytes = count_message(comm, c->status);
    if (bytes >= 0)
        link_received(c, comm, c->status, bytes);
}

void traced_receive(struct traced *c, MPI_Comm comm) { count_received(c, comm_of(comm)); }

void before_post(MPI_Comm comm, int source, int tag) { look_for_message(comm, source, tag); }

void traced_post(struct traced *c, MPI_Comm handle, MPI_Request request, int source, int tag, int64_t bytes)
{
    if (source == MPI_PROC_NULL) {
        requests_pass(request, c->t1);
        return;
    }
    iolens_mpi_posted(bytes);
    struct comm *comm = comm_of(handle);
    int64_t number = link_message(c, IOLENS_LINK_POST_RECEIVE, comm, source, tag, bytes);
    requests_put(request,
                 (struct request){.kind = REQUEST_RECEIVE, .posted = c->t1, .comm = comm, .number = number});
}

/* Stores the handle of a message that a probe found, like a request, until the message is received. */
void traced_mprobe(const struct traced *c, MPI_Comm comm, MPI_Message message, bool found)
{
    if (found)
        requests_put(
            (MPI_Request)message,
            (struct request){.kind = REQUEST_RECEIVE, .posted = c->t1, .comm = comm_of(comm), .number = -1});
}

void before_matched(struct traced *c, MPI_Message message, MPI_Status **status)
{
    c->handle = (MPI_Request)message;
    c->known = requests_find(c->handle, INFINITY, &c->request);
    if (status)
        use_status(c, status);
}

void traced_matched(struct traced *c)
{
    if (c->known)
        count_received(c, c->request.comm);
    requests_forget(c->handle, c->t0);
}

void traced_matched_post(struct traced *c, MPI_Request request)
{
    if (c->known)
        requests_put(request,
                     (struct request){.kind = REQUEST_RECEIVE,
                                      .posted = c->t1,
                                      .comm = c->request.comm,
                                      .number = link_message(c, IOLENS_LINK_POST_RECEIVE, c->request.comm,
                                                             MPI_ANY_SOURCE, MPI_ANY_TAG, 0)});
    requests_forget(c->handle, c->t0);
}

/* Forgets a message whose receive failed: it is lost, for example because it was longer than the buffer. */
void failed_matched(const struct traced *c) { requests_forget(c->handle, c->t0); }

/* Stores a persistent or partitioned send. For a partitioned send the tag is IOLENS_ANY, because the sender's
 * partitions are not matched with the receiver's. */
void traced_send_init(const struct traced *c, MPI_Comm handle, int dest, int tag, int64_t bytes,
                      MPI_Request request)
{
    const struct comm *comm = dest == MPI_PROC_NULL ? NULL : comm_of(handle);
    int peer = dest == MPI_PROC_NULL ? IOLENS_NOBODY : comm ? comm_world_rank(comm, dest) : -1;
    requests_put(request, (struct request){.kind = REQUEST_PERSISTENT_SEND,
                                           .posted = c->t1,
                                           .peer = peer,
                                           .sent = bytes,
                                           .number = -1,
                                           .communicator = comm && tag != IOLENS_ANY ? comm->id : 0,
                                           .tag = tag});
}

void traced_receive_init(const struct traced *c, MPI_Comm comm, int source, int tag, MPI_Request request)
{
    struct comm *of = source == MPI_PROC_NULL ? NULL : comm_of(comm);
    requests_put(request, (struct request){.kind = REQUEST_PERSISTENT_RECEIVE,
                                           .posted = c->t1,
                                           .comm = of,
                                           .peer = link_peer(of, source),
                                           .number = -1,
                                           .communicator = of ? of->id : 0,
                                           .tag = link_tag(tag)});
}

void traced_start(struct traced *c, MPI_Request handle)
{
    struct request request;
    if (!requests_find(handle, INFINITY, &request))
        return;
    if (request.kind == REQUEST_PERSISTENT_SEND && request.peer != IOLENS_NOBODY)
        iolens_mpi_sent(request.peer, request.sent);
    else if (request.kind == REQUEST_PERSISTENT_COLLECTIVE)
        iolens_mpi_volume(request.sent, request.received);
    requests_set(handle, true, false);
    requests_set_number(handle, link_started(c, &request));
}

void traced_start_all(struct traced *c, int number, const MPI_Request *requests)
{
    for (int i = 0; i < number; i++)
        traced_start(c, requests[i]);
}

/* Stores a request with the bytes that were agreed on at its start, for requests whose status has no size
 * when they complete, such as a partitioned receive. */
static void put_agreed(enum request_kind kind, const struct traced *c, MPI_Comm handle, int source,
                       int64_t bytes, MPI_Request request)
{
    int peer = source == MPI_PROC_NULL ? IOLENS_NOBODY : -1;
    const struct comm *comm = source < 0 ? NULL : comm_of(handle);
    if (comm)
        peer = comm_world_rank(comm, source);
    requests_put(request, (struct request){
                              .kind = kind, .posted = c->t1, .peer = peer, .received = bytes, .number = -1});
}

void traced_partitioned_init(const struct traced *c, MPI_Comm comm, int source, int64_t bytes,
                             MPI_Request request)
{
    put_agreed(REQUEST_PARTITIONED_RECEIVE, c, comm, source, bytes, request);
}

/* Stores the request of a non-blocking exchange (MPI_Isendrecv). MPICH and its relatives complete it with a
 * status that has no size. */
void traced_exchange_post(const struct traced *c, MPI_Comm comm, int source, int64_t bytes,
                          MPI_Request request)
{
#ifdef OPEN_MPI
    (void)bytes;
    struct comm *of = source == MPI_PROC_NULL ? NULL : comm_of(comm);
    requests_put(request,
                 (struct request){.kind = REQUEST_RECEIVE, .posted = c->t1, .comm = of, .number = -1});
#else
    put_agreed(REQUEST_EXCHANGE, c, comm, source, bytes, request);
#endif
}

static bool was_cancelled(const struct request *request, const MPI_Status *status)
{
    int cancelled = 0;
    return request->may_be_cancelled && pmpi.Test_cancelled(status, &cancelled) == MPI_SUCCESS && cancelled;
}

static void complete(struct traced *c, MPI_Request handle, const struct request *request,
                     const MPI_Status *status)
{
    enum request_kind kind = request->kind;
    bool persistent =
        kind != REQUEST_RECEIVE && kind != REQUEST_EXCHANGE && kind != REQUEST_FILE && kind != REQUEST_POSTED;
    bool agreed = kind == REQUEST_PARTITIONED_RECEIVE || kind == REQUEST_EXCHANGE;
    bool receives = kind == REQUEST_RECEIVE || kind == REQUEST_PERSISTENT_RECEIVE;
    if (persistent && !request->active)
        return;
    bool cancelled = receives && was_cancelled(request, status);
    if (receives && !cancelled)
        count_message(request->comm, status);
    link_completed(c, request, receives ? status : NULL, cancelled);
    if (agreed && request->peer != IOLENS_NOBODY)
        iolens_mpi_received(request->peer, request->received);
    c->transfers += kind == REQUEST_FILE;
    c->others += kind != REQUEST_FILE;
    if (kind == REQUEST_FILE) {
        c->file = request->file;
        iolens_mpiio_moved(request->file, request->transfer, request->asked,
                           moved_bytes(status, request->asked));
    }
    if (persistent)
        requests_set(handle, false, false);
    else
        requests_forget(handle, c->t0);
}

void before_complete(struct traced *c, MPI_Request request, MPI_Status **status)
{
    c->handle = request;
    c->known = requests_find(request, INFINITY, &c->request);
    if (c->known)
        use_status(c, status);
}

void traced_complete(struct traced *c)
{
    if (c->known)
        complete(c, c->handle, &c->request, c->status);
}

/* Forgets a request that failed, because it no longer exists, and its handle may belong to the next one. */
void failed_complete(const struct traced *c, MPI_Request request)
{
    if (c->known && request == mpi.no_request)
        requests_forget(c->handle, c->t0);
}

static void *room(void *few, size_t many, size_t bytes, bool *allocated)
{
    *allocated = many > TRACED_FEW;
    return *allocated ? heap_take(many * bytes) : few;
}

/* Copies the handles before the call sets them to the null handle. Without memory the requests are not
 * followed. */
void before_complete_many(struct traced *c, int number, const MPI_Request *requests, MPI_Status **statuses,
                          bool one_status)
{
    if (number <= 0 || requests_none())
        return;
    c->handles = room(c->few, (size_t)number, sizeof *c->handles, &c->allocated);
    for (int i = 0; c->handles && i < number; i++)
        c->handles[i] = requests[i];
    c->number = c->handles ? number : 0;
    c->statuses = *statuses;
    if (one_status && *statuses == MPI_STATUS_IGNORE)
        c->statuses = &c->own;
    else if (!one_status && *statuses == MPI_STATUSES_IGNORE)
        c->statuses = room(c->few_statuses, (size_t)number, sizeof *c->statuses, &c->allocated_statuses);
    if (c->statuses)
        *statuses = c->statuses;
    else
        c->number = 0;
}

static void complete_at(struct traced *c, int at, const MPI_Status *status)
{
    struct request request;
    if (at < 0 || at >= c->number || c->handles[at] == mpi.no_request)
        return;
    if (requests_find(c->handles[at], c->t0, &request))
        complete(c, c->handles[at], &request, status);
    else
        c->others++;
}

/* Records the completion of `done` requests of a call. statuses[i] belongs to request indices[i] or, if
 * `indices` is NULL, to request i. */
void traced_complete_many(struct traced *c, int done, const int *indices)
{
    for (int i = 0; i < done && i < c->number; i++)
        complete_at(c, indices ? indices[i] : i, &c->statuses[i]);
}

static bool is_of_class(int code, int wanted)
{
    int class = MPI_ERR_UNKNOWN;
    return pmpi.Error_class(code, &class) == MPI_SUCCESS && class == wanted;
}

/* Returns true for the MPI error after which each request's own status tells whether that request failed. */
bool failed_in_status(int code) { return is_of_class(code, MPI_ERR_IN_STATUS); }

/* Records the completion of each of the `done` MPI requests that did not fail. Forgets all requests that MPI
 * has freed. */
void failed_complete_many(struct traced *c, const MPI_Request *requests, int done, const int *indices)
{
    for (int i = 0; i < done && i < c->number; i++)
        if (is_of_class(c->statuses[i].MPI_ERROR, MPI_SUCCESS))
            complete_at(c, indices ? indices[i] : i, &c->statuses[i]);
    for (int i = 0; i < c->number; i++)
        if (c->handles[i] != mpi.no_request && requests[i] == mpi.no_request)
            requests_forget(c->handles[i], c->t0);
}

static void release_many(struct traced *c)
{
    if (c->allocated)
        heap_give_back(c->handles);
    if (c->allocated_statuses)
        heap_give_back(c->statuses);
}

void before_cancel(MPI_Request handle)
{
    struct request request;
    if (requests_find(handle, INFINITY, &request))
        requests_set(handle, request.active, true);
}

void traced_transfer(double posted, struct iolens_mpiio_file *file, enum iolens_mpiio_kind kind,
                     int64_t asked, MPI_Request request, int64_t number)
{
    if (file)
        requests_put(request, (struct request){.kind = REQUEST_FILE,
                                               .posted = posted,
                                               .file = file,
                                               .transfer = kind,
                                               .asked = asked,
                                               .number = number});
}

/* Times a barrier before the collective call, to separate waiting for other ranks from the call itself. There
 * is no such barrier on an intercommunicator, because only one of its two groups would take part. */
void before_collective(MPI_Comm handle)
{
    const struct comm *comm = traced_what & IOLENS_MPI_SYNC ? comm_of(handle) : NULL;
    if (!comm || comm->remote)
        return;
    double t0 = iolens_now();
    pmpi.Barrier(handle);
    double seconds = iolens_now() - t0;
    iolens_mpi_sync(seconds);
    iolens_spend(iolens_spent(), seconds);
}

void traced_together(struct traced *c, const struct comm *of, int root, struct volume volume)
{
    iolens_mpi_volume(volume.sent, volume.received);
    link_collective(c, IOLENS_LINK_COLLECTIVE, of, root, volume);
}

void traced_together_post(struct traced *c, const struct comm *of, int root, struct volume volume,
                          MPI_Request request)
{
    iolens_mpi_volume(volume.sent, volume.received);
    remember_post(c, request, link_collective(c, IOLENS_LINK_POST_COLLECTIVE, of, root, volume));
}

/* Gives a new communicator its number at once, so that all its ranks give numbers in the same order. */
static void number(struct traced *c, MPI_Comm made)
{
    if (traced_what & IOLENS_MPI_WHY)
        comm_of(made);
    link_neighbours(c, made);
}

/* Records the making of a communicator by these ranks alone as their first call on it. */
void traced_made_by_some(struct traced *c, MPI_Comm made)
{
    number(c, made);
    if (traced_what & IOLENS_MPI_WHY)
        link_collective(c, IOLENS_LINK_COLLECTIVE, comm_of(made), -1, (struct volume){0, 0});
}

void traced_made(struct traced *c, MPI_Comm of, MPI_Comm made)
{
    if (traced_what & IOLENS_MPI_WHY)
        link_collective(c, IOLENS_LINK_COLLECTIVE, comm_of(of), -1, (struct volume){0, 0});
    number(c, made);
}

void traced_made_window(struct traced *c, MPI_Comm of, MPI_Win made)
{
    traced_made(c, of, mpi.no_comm);
    if (traced_what & IOLENS_MPI_WHY)
        comm_of_window(made);
}

void traced_fence(struct traced *c, MPI_Win win)
{
    if (traced_what & IOLENS_MPI_WHY)
        link_collective(c, IOLENS_LINK_COLLECTIVE, comm_of_window(win), -1, (struct volume){0, 0});
}

/* Copies the facts of a window before it is freed, because MPI forgets them then. */
void before_window_free(struct traced *c, MPI_Win win)
{
    const struct comm *comm = traced_what & IOLENS_MPI_WHY ? comm_of_window(win) : NULL;
    c->request = (struct request){.communicator = comm ? comm->id : 0, .size = comm ? comm->size : 0};
}

void traced_window_free(struct traced *c)
{
    const struct comm window = {.id = c->request.communicator, .size = c->request.size};
    link_collective(c, IOLENS_LINK_COLLECTIVE, &window, -1, (struct volume){0, 0});
}

void traced_collective_init(const struct traced *c, const struct comm *of, int root, struct volume volume,
                            MPI_Request request)
{
    requests_put(request, (struct request){.kind = REQUEST_PERSISTENT_COLLECTIVE,
                                           .posted = c->t1,
                                           .sent = volume.sent,
                                           .received = volume.received,
                                           .peer = root < 0 ? IOLENS_NO_PEER : link_peer(of, root),
                                           .number = -1,
                                           .communicator = of->id,
                                           .size = of->size});
}

void traced_one_sided(MPI_Win win, int target, int64_t sent, int64_t received)
{
    if (target == MPI_PROC_NULL)
        return;
    const struct comm *comm = comm_of_window(win);
    int peer = comm ? comm_world_rank(comm, target) : -1;
    if (sent >= 0)
        iolens_mpi_sent(peer, sent);
    if (received >= 0)
        iolens_mpi_got(peer, received);
}

/* Counts a call of MPI at its end. A call that only completed file transfers counts as I/O. */
void traced_end(struct traced *c, void *caller)
{
    release_many(c);
    if (c->transfers > 0 && c->others == 0) {
        link_rest(c);
        iolens_mpiio_other(c->file, IOLENS_MPIIO_waits, c->t0, c->t1);
        return;
    }
    if (!traced_what)
        return;
    link_rest(c);
    iolens_mpi_call(&(struct iolens_mpi_call){
        .function = c->function, .t0 = c->t0, .t1 = c->t1, .caller = (uintptr_t)caller});
}
