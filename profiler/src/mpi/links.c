#include "links.h"

#include "core.h"
#include "handles.h"

static bool wanted(void) { return __builtin_expect(traced_what & IOLENS_MPI_WHY, 0); }

static int64_t keep(struct traced *c, const struct iolens_link *link)
{
    const struct iolens_mpi_call call = {.function = c->function, .t0 = c->t0, .t1 = c->t1};
    c->linked = true;
    return iolens_mpi_link(link, &call);
}

static uint32_t id_of(const struct comm *comm) { return comm ? comm->id : 0; }

/* Returns a peer's rank in MPI_COMM_WORLD, or IOLENS_ANY for any source, for which each MPI library has
 * another value. */
static int peer_of(const struct comm *comm, int peer)
{
    if (peer == MPI_ANY_SOURCE)
        return IOLENS_ANY;
    return comm ? comm_world_rank(comm, peer) : IOLENS_NO_PEER;
}

int link_peer(const struct comm *comm, int peer)
{
    return peer == MPI_PROC_NULL ? IOLENS_NOBODY : peer_of(comm, peer);
}

int link_tag(int tag) { return tag == MPI_ANY_TAG ? IOLENS_ANY : tag; }

int64_t link_message(struct traced *c, enum iolens_link_kind kind, const struct comm *comm, int peer, int tag,
                     int64_t bytes)
{
    if (!wanted() || peer == MPI_PROC_NULL)
        return -1;
    return keep(c, &(struct iolens_link){.kind = kind,
                                         .communicator = id_of(comm),
                                         .peer = peer_of(comm, peer),
                                         .tag = link_tag(tag),
                                         .bytes = bytes});
}

int64_t link_received(struct traced *c, const struct comm *comm, const MPI_Status *status, int64_t bytes)
{
    if (!wanted())
        return -1;
    return link_message(c, IOLENS_LINK_RECEIVE, comm, status->MPI_SOURCE, status->MPI_TAG, bytes);
}

void link_completed(struct traced *c, const struct request *request, const MPI_Status *status, bool cancelled)
{
    if (!wanted() || request->number < 0)
        return;
    struct iolens_link link = {
        .kind = IOLENS_LINK_COMPLETION, .peer = IOLENS_NO_PEER, .request = request->number};
    MPI_Count bytes = 0;
    if (cancelled) {
        link.peer = IOLENS_CANCELLED;
    } else if (status) {
        link.peer = peer_of(request->comm, status->MPI_SOURCE);
        link.tag = status->MPI_TAG;
        if (pmpi.Get_elements_x(status, mpi.byte, &bytes) == MPI_SUCCESS && bytes > 0)
            link.bytes = (int64_t)bytes;
    } else {
        link.peer = request->kind == REQUEST_EXCHANGE ? request->peer : IOLENS_NO_PEER;
        link.tag = request->tag;
    }
    keep(c, &link);
}

/* Returns the root of a collective call as a rank of MPI_COMM_WORLD. In an intercommunicator a rank of the
 * other group names the root, the root names itself MPI_ROOT, and the other ranks of its group take no part.
 */
static int root_of(const struct comm *comm, int root)
{
    int own = IOLENS_NO_PEER;
    if (comm->remote && root == MPI_ROOT)
        return pmpi.Comm_rank(mpi.world, &own) == MPI_SUCCESS ? own : IOLENS_NO_PEER;
    return root < 0 ? IOLENS_NO_PEER : comm_world_rank(comm, root);
}

int64_t link_collective(struct traced *c, enum iolens_link_kind kind, const struct comm *comm, int root,
                        struct volume volume)
{
    if (!wanted() || !comm)
        return -1;
    return keep(
        c, &(struct iolens_link){.kind = kind,
                                 .communicator = comm->id,
                                 .peer = root_of(comm, root),
                                 .size = comm_members(comm),
                                 .bytes = volume.sent > volume.received ? volume.sent : volume.received});
}

/* Largest number of neighbours that are recorded. */
enum { MOST_NEIGHBOURS = 4096 };

static void keep_neighbours(struct traced *c, const struct comm *comm, int many, const int *ranks, bool gets)
{
    for (int i = 0; i < many; i++)
        if (ranks[i] != MPI_PROC_NULL)
            keep(c, &(struct iolens_link){.kind = IOLENS_LINK_NEIGHBOUR,
                                          .communicator = comm->id,
                                          .peer = comm_world_rank(comm, ranks[i]),
                                          .tag = gets});
}

void link_neighbours(struct traced *c, MPI_Comm handle)
{
    const struct comm *comm = wanted() ? comm_of(handle) : NULL;
    if (!comm || comm->in + comm->out == 0 || comm->in + comm->out > MOST_NEIGHBOURS)
        return;
    int *ranks = heap_take(2 * (size_t)(comm->in + comm->out) * sizeof *ranks);
    if (ranks && comm_neighbours(comm, handle, ranks)) {
        keep_neighbours(c, comm, comm->in, ranks, true);
        keep_neighbours(c, comm, comm->out, ranks + comm->in, false);
    }
    heap_give_back(ranks);
}

static void keep_epoch(struct traced *c, MPI_Win win, int peer, bool exclusive)
{
    keep(c, &(struct iolens_link){.kind = IOLENS_LINK_WINDOW,
                                  .communicator = id_of(comm_of_window(win)),
                                  .peer = peer,
                                  .tag = exclusive});
}

void link_epoch(struct traced *c, MPI_Win win, int target, bool exclusive)
{
    if (wanted() && target != MPI_PROC_NULL)
        keep_epoch(c, win, peer_of(comm_of_window(win), target), exclusive);
}

void link_epoch_of_all(struct traced *c, MPI_Win win)
{
    if (wanted())
        keep_epoch(c, win, IOLENS_NO_PEER, false);
}

void link_epoch_of_group(struct traced *c, MPI_Win win, MPI_Group group)
{
    if (!wanted())
        return;
    struct comm *members = comm_of_group(group);
    for (int i = 0; members && i < members->size; i++)
        keep_epoch(c, win, comm_world_rank(members, i), false);
    comm_release(members);
}

int64_t link_started(struct traced *c, const struct request *request)
{
    static const enum iolens_link_kind kinds[] = {
        [REQUEST_PERSISTENT_SEND] = IOLENS_LINK_POST_SEND,
        [REQUEST_PERSISTENT_RECEIVE] = IOLENS_LINK_POST_RECEIVE,
        [REQUEST_PERSISTENT_COLLECTIVE] = IOLENS_LINK_POST_COLLECTIVE,
        [REQUEST_FILE] = IOLENS_LINK_NONE,
    };
    enum iolens_link_kind kind = kinds[request->kind];
    if (!wanted() || kind == IOLENS_LINK_NONE || request->peer == IOLENS_NOBODY)
        return -1;
    return keep(c, &(struct iolens_link){.kind = kind,
                                         .communicator = request->communicator,
                                         .peer = request->peer,
                                         .tag = request->tag,
                                         .size = request->size,
                                         .bytes = request->sent});
}

int64_t link_file(enum iolens_link_kind kind, uint32_t communicator, int size, const char *name, double t0,
                  double t1)
{
    const struct iolens_link link = {.kind = kind,
                                     .communicator = communicator,
                                     .peer = IOLENS_NO_PEER,
                                     .size = size,
                                     .name = *name == 'P' ? name + 1 : name};
    if (!wanted() || !communicator)
        return -1;
    return iolens_mpi_link(&link, &(struct iolens_mpi_call){.t0 = t0, .t1 = t1});
}

void link_all(const struct iolens_mpi_call *call, MPI_Comm comm)
{
    const struct comm *members = wanted() ? comm_of(comm) : NULL;
    if (members)
        iolens_mpi_link(&(struct iolens_link){.kind = IOLENS_LINK_COLLECTIVE,
                                              .communicator = members->id,
                                              .peer = IOLENS_NO_PEER,
                                              .size = members->size},
                        call);
}

void link_rest(struct traced *c)
{
    if (wanted() && !c->linked)
        keep(c, &(struct iolens_link){.kind = IOLENS_LINK_NONE, .peer = IOLENS_NO_PEER});
}

int64_t asked_bytes(MPI_Count count, MPI_Datatype type)
{
    MPI_Count size = 0;
    return pmpi.Type_size_x(type, &size) == MPI_SUCCESS ? (int64_t)count * (int64_t)size : -1;
}

int64_t moved_bytes(const MPI_Status *status, int64_t asked)
{
    MPI_Count bytes = -1;
    if (!status || pmpi.Get_elements_x(status, mpi.byte, &bytes) != MPI_SUCCESS || bytes < 0 || bytes > asked)
        return asked;
    return (int64_t)bytes;
}
