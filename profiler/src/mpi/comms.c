#include "comms.h"

#include "core.h"
#include "handles.h"

/* Numbers of communicators. All ranks give a communicator the same number, without asking one another. */

/* The ranks of a group in MPI_COMM_WORLD: first + i * stride for i below size, or world[i] if `world` is not
 * NULL; -1 for a rank outside of MPI_COMM_WORLD. */
struct ranks {
    int size, first, stride;
    const int *world;
};

/* The ranks of a communicator, as a hash, and the number of communicators that were made of exactly these
 * ranks. */
struct group {
    struct group *next;
    uint64_t hash;
    uint32_t made;
};

static struct group *groups;

static uint64_t mixed(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* Returns how many communicators with the same ranks were made before, by the hash of the ranks, and counts
 * this one. Without memory, returns 0 for all such communicators, so that all of them get the same number. */
static uint32_t count(uint64_t hash)
{
    struct group *group = groups;
    while (group && group->hash != hash)
        group = group->next;
    if (!group && (group = heap_take_zeroed(1, sizeof *group))) {
        group->hash = hash;
        group->next = groups;
        groups = group;
    }
    return group ? group->made++ : 0;
}

static int rank_at(struct ranks ranks, int at)
{
    return ranks.world ? ranks.world[at] : ranks.first + at * ranks.stride;
}

/* Adds a group of ranks to a hash; returns false if one of them lies outside of MPI_COMM_WORLD. */
static bool add_ranks(uint64_t *hash, struct ranks ranks)
{
    *hash = mixed(*hash, (uint64_t)ranks.size);
    for (int i = 0; i < ranks.size; i++) {
        int rank = rank_at(ranks, i);
        if (rank < 0)
            return false;
        *hash = mixed(*hash, (uint64_t)rank);
    }
    return true;
}

static uint32_t next_of(uint64_t hash)
{
    uint32_t id = (uint32_t)(mixed(hash, count(hash)) >> 32);
    return id ? id : 1;
}

/* Returns the number of a communicator at its first use. The number is a hash of its ranks and of how many
 * communicators with the same ranks were made before. These ranks agree on it, because they make
 * communicators by collective calls, in the same order. Returns 0 for ranks outside of MPI_COMM_WORLD. The
 * lock of new communicators must be held. */
static uint32_t comm_id_next(struct ranks ranks)
{
    uint64_t hash = 0;
    return add_ranks(&hash, ranks) ? next_of(hash) : 0;
}

/* Does the same for an intercommunicator; both groups get the same number. */
static uint32_t comm_id_between(struct ranks here, struct ranks there)
{
    uint64_t hash = 1;
    bool lower = here.size > 0 && there.size > 0 && rank_at(here, 0) < rank_at(there, 0);
    return add_ranks(&hash, lower ? here : there) && add_ranks(&hash, lower ? there : here) ? next_of(hash)
                                                                                            : 0;
}

enum { CACHED = 16 }; /* Must be a power of two. */

static int keyval = MPI_KEYVAL_INVALID, windows_keyval = MPI_KEYVAL_INVALID;
static int world_size;
/* A number that changes whenever a handle may refer to another communicator. */
static atomic_uint generation = 1;
static int making; /* A lock for making the facts of a communicator; 0 if free. */

/* Handles that a thread has used recently. */
struct seen {
    uintptr_t handle;
    struct comm *comm;
    unsigned generation;
};
static __thread struct seen comms_seen[CACHED], windows_seen[CACHED];

struct comm *comm_hold(struct comm *comm)
{
    if (comm)
        atomic_fetch_add_explicit(&comm->users, 1, memory_order_relaxed);
    return comm;
}

void comm_release(struct comm *comm)
{
    if (!comm || atomic_fetch_sub(&comm->users, 1) != 1)
        return;
    heap_give_back(comm->is_beyond);
    heap_give_back(comm->world);
    heap_give_back(comm);
}

static int forget(MPI_Comm handle, int key, void *value, void *extra)
{
    (void)handle, (void)key, (void)extra;
    generation++;
    comm_release(value);
    return MPI_SUCCESS;
}

static int forget_window(MPI_Win handle, int key, void *value, void *extra)
{
    (void)handle, (void)key, (void)extra;
    generation++;
    comm_release(value);
    return MPI_SUCCESS;
}

/* Tells MPI not to copy the facts of a communicator to its duplicate, which is examined at its own first use.
 */
static int copy_nothing(MPI_Comm handle, int key, void *extra, void *in, void *out, int *copied)
{
    (void)handle, (void)key, (void)extra, (void)in, (void)out;
    *copied = 0;
    return MPI_SUCCESS;
}

/* Tells MPI not to copy the facts of a window. The standard requires this function, but windows cannot be
 * duplicated. */
static int copy_no_window(MPI_Win handle, int key, void *extra, void *in, void *out, int *copied)
{
    (void)handle, (void)key, (void)extra, (void)in, (void)out;
    *copied = 0;
    return MPI_SUCCESS;
}

bool comms_start(void)
{
    return pmpi.Comm_size(mpi.world, &world_size) == MPI_SUCCESS &&
           pmpi.Comm_create_keyval(copy_nothing, forget, &keyval, NULL) == MPI_SUCCESS &&
           pmpi.Win_create_keyval(copy_no_window, forget_window, &windows_keyval, NULL) == MPI_SUCCESS;
}

/* Keeps the numbers that the ranks of a communicator have in MPI_COMM_WORLD: as first number and stride if
 * they are evenly spaced, else as the array. */
static void keep_ranks(struct comm *comm, int *world, int count)
{
    comm->first = world[0];
    comm->stride = count > 1 ? world[1] - world[0] : 0;
    comm->world = world;
    for (int i = 0; i < count; i++)
        if (world[i] < 0 || world[i] != comm->first + i * comm->stride)
            return;
    comm->world = NULL;
    heap_give_back(world);
}

static bool translate(struct comm *comm, MPI_Group group, int count)
{
    MPI_Group all;
    int *here = heap_take((size_t)count * sizeof *here), *world = heap_take((size_t)count * sizeof *world);
    bool done = here && world && pmpi.Comm_group(mpi.world, &all) == MPI_SUCCESS;
    for (int i = 0; here && i < count; i++)
        here[i] = i;
    if (done) {
        done = pmpi.Group_translate_ranks(group, count, here, all, world) == MPI_SUCCESS;
        pmpi.Group_free(&all);
    }
    for (int i = 0; done && i < count; i++)
        world[i] = world[i] == MPI_UNDEFINED ? -1 : world[i];
    heap_give_back(here);
    if (done)
        keep_ranks(comm, world, count);
    else
        heap_give_back(world);
    return done;
}

static bool translate_comm(struct comm *comm, MPI_Comm handle)
{
    MPI_Group group;
    int code = comm->remote ? pmpi.Comm_remote_group(handle, &group) : pmpi.Comm_group(handle, &group);
    bool done = code == MPI_SUCCESS && translate(comm, group, comm_peers(comm));
    if (code == MPI_SUCCESS)
        pmpi.Group_free(&group);
    return done;
}

/* Finds the neighbours that a rank at the edge of a Cartesian grid lacks. If allocation fails, every
 * neighbour counts as present. */
static void find_ends(struct comm *comm, MPI_Comm handle)
{
    bool *is_beyond = heap_take_zeroed((size_t)comm->in + 1, sizeof *is_beyond);
    for (int i = 0; is_beyond && i < comm->in; i += 2) {
        int before = MPI_PROC_NULL, behind = MPI_PROC_NULL;
        if (pmpi.Cart_shift(handle, i / 2, 1, &before, &behind) != MPI_SUCCESS)
            continue;
        is_beyond[i] = before == MPI_PROC_NULL;
        is_beyond[i + 1] = behind == MPI_PROC_NULL;
        comm->beyond += is_beyond[i] + is_beyond[i + 1];
    }
    if (comm->beyond > 0)
        comm->is_beyond = is_beyond;
    else
        heap_give_back(is_beyond);
}

static void count_neighbours(struct comm *comm, MPI_Comm handle)
{
    int kind = MPI_UNDEFINED, number = 0, weighted = 0;
    if (comm->remote || pmpi.Topo_test(handle, &kind) != MPI_SUCCESS)
        return;
    if (kind == MPI_CART && pmpi.Cartdim_get(handle, &number) == MPI_SUCCESS) {
        comm->in = comm->out = 2 * number;
        find_ends(comm, handle);
    } else if (kind == MPI_GRAPH && pmpi.Graph_neighbors_count(handle, comm->rank, &number) == MPI_SUCCESS)
        comm->in = comm->out = number;
    else if (kind == MPI_DIST_GRAPH)
        pmpi.Dist_graph_neighbors_count(handle, &comm->in, &comm->out, &weighted);
}

static bool describe(struct comm *comm, MPI_Comm handle)
{
    int inter = 0;
    return pmpi.Comm_rank(handle, &comm->rank) == MPI_SUCCESS &&
           pmpi.Comm_size(handle, &comm->size) == MPI_SUCCESS &&
           pmpi.Comm_test_inter(handle, &inter) == MPI_SUCCESS &&
           (!inter || pmpi.Comm_remote_size(handle, &comm->remote) == MPI_SUCCESS) &&
           translate_comm(comm, handle);
}

static struct ranks ranks_of(const struct comm *comm, int size)
{
    return (struct ranks){.size = size, .first = comm->first, .stride = comm->stride, .world = comm->world};
}

/* Returns the number of an intercommunicator, whose facts have the ranks of the remote group; 0 if it cannot
 * be known. */
static uint32_t id_of_both(const struct comm *comm, MPI_Comm handle)
{
    MPI_Group group;
    if (pmpi.Comm_group(handle, &group) != MPI_SUCCESS)
        return 0;
    struct comm *here = comm_of_group(group);
    pmpi.Group_free(&group);
    uint32_t id = here ? comm_id_between(ranks_of(here, here->size), ranks_of(comm, comm->remote)) : 0;
    comm_release(here);
    return id;
}

static struct comm *make(MPI_Comm handle)
{
    struct comm *comm = heap_take_zeroed(1, sizeof *comm);
    if (!comm || !describe(comm, handle)) {
        heap_give_back(comm);
        return NULL;
    }
    count_neighbours(comm, handle);
    comm->id = comm->remote ? id_of_both(comm, handle) : comm_id_next(ranks_of(comm, comm->size));
    atomic_init(&comm->users, 1);
    if (pmpi.Comm_set_attr(handle, keyval, comm) != MPI_SUCCESS) {
        comm_release(comm);
        return NULL;
    }
    return comm;
}

static struct comm *look_up(MPI_Comm handle)
{
    struct comm *comm = NULL;
    int found = 0;
    iolens_lock(&making);
    if (pmpi.Comm_get_attr(handle, keyval, &comm, &found) != MPI_SUCCESS || !found)
        comm = make(handle);
    if (comm && !comm->said)
        comm->said = iolens_mpi_communicator(comm->size, comm->remote);
    iolens_unlock(&making);
    return comm;
}

static struct seen *place_of(struct seen *seen, uintptr_t handle)
{
    return &seen[(handle ^ handle >> 4 ^ handle >> 8) & (CACHED - 1)];
}

struct comm *comm_of(MPI_Comm handle)
{
    struct seen *seen = place_of(comms_seen, (uintptr_t)handle);
    unsigned now = atomic_load_explicit(&generation, memory_order_acquire);
    if (__builtin_expect(seen->handle == (uintptr_t)handle && seen->generation == now, 1))
        return seen->comm;
    if (handle == mpi.no_comm)
        return NULL;
    struct comm *comm = look_up(handle);
    /* A communicator that was looked up while recording is off is not yet counted. It is not kept here, so
     * that it is looked up again when recording resumes. */
    if (!comm || comm->said)
        *seen = (struct seen){(uintptr_t)handle, comm, now};
    return comm;
}

int comm_world_rank(const struct comm *comm, int peer)
{
    if (peer < 0 || peer >= comm_peers(comm))
        return -1;
    return comm->world ? comm->world[peer] : comm->first + peer * comm->stride;
}

static bool neighbours_in_grid(const struct comm *comm, MPI_Comm handle, int *ranks)
{
    for (int i = 0; i < comm->in; i += 2)
        if (pmpi.Cart_shift(handle, i / 2, 1, &ranks[i], &ranks[i + 1]) != MPI_SUCCESS)
            return false;
    return true;
}

static bool neighbours_in_graph(const struct comm *comm, MPI_Comm handle, int *ranks)
{
    int *in_weights = ranks + comm->in + comm->out, *out_weights = in_weights + comm->in;
    return pmpi.Dist_graph_neighbors(handle, comm->in, ranks, in_weights, comm->out, ranks + comm->in,
                                     out_weights) == MPI_SUCCESS;
}

bool comm_neighbours(const struct comm *comm, MPI_Comm handle, int *ranks)
{
    int kind = MPI_UNDEFINED;
    if (pmpi.Topo_test(handle, &kind) != MPI_SUCCESS)
        return false;
    if (kind == MPI_DIST_GRAPH)
        return neighbours_in_graph(comm, handle, ranks);
    bool found = kind == MPI_CART ? neighbours_in_grid(comm, handle, ranks)
                                  : pmpi.Graph_neighbors(handle, comm->rank, comm->in, ranks) == MPI_SUCCESS;
    for (int i = 0; found && i < comm->out; i++)
        ranks[comm->in + i] = ranks[i];
    return found;
}

struct comm *comm_of_group(MPI_Group group)
{
    struct comm *comm = heap_take_zeroed(1, sizeof *comm);
    if (!comm)
        return NULL;
    atomic_init(&comm->users, 1);
    if (pmpi.Group_size(group, &comm->size) == MPI_SUCCESS &&
        (comm->size == 0 || translate(comm, group, comm->size)))
        return comm;
    comm_release(comm);
    return NULL;
}

/* Determines the facts about a window's communicator. MPI does not tell that communicator, only its group, so
 * the facts are stored as an attribute of the window. */
static struct comm *make_of_window(MPI_Win win)
{
    MPI_Group group;
    if (pmpi.Win_get_group(win, &group) != MPI_SUCCESS)
        return NULL;
    struct comm *comm = comm_of_group(group);
    pmpi.Group_free(&group);
    if (!comm)
        return NULL;
    comm->id = comm_id_next(ranks_of(comm, comm->size));
    if (pmpi.Win_set_attr(win, windows_keyval, comm) == MPI_SUCCESS)
        return comm;
    comm_release(comm);
    return NULL;
}

static struct comm *look_up_window(MPI_Win win)
{
    struct comm *comm = NULL;
    int found = 0;
    iolens_lock(&making);
    if (pmpi.Win_get_attr(win, windows_keyval, &comm, &found) != MPI_SUCCESS || !found)
        comm = make_of_window(win);
    iolens_unlock(&making);
    return comm;
}

struct comm *comm_of_window(MPI_Win win)
{
    struct seen *seen = place_of(windows_seen, (uintptr_t)win);
    unsigned now = atomic_load_explicit(&generation, memory_order_acquire);
    if (seen->handle != (uintptr_t)win || seen->generation != now)
        *seen = (struct seen){(uintptr_t)win, look_up_window(win), now};
    return seen->comm;
}
