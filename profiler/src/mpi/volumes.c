#include "handles.h"
#include "traced_call.h"

int64_t bytes_of(int64_t count, MPI_Datatype type)
{
    MPI_Count size = 0;
    return count > 0 && pmpi.Type_size_x(type, &size) == MPI_SUCCESS && size > 0 ? count * (int64_t)size : 0;
}

static int64_t count_at(struct counts counts, int index)
{
    return counts.wide ? (int64_t)((const MPI_Count *)counts.array)[index]
                       : ((const int *)counts.array)[index];
}

int64_t bytes_of_all(int many, struct counts counts, MPI_Datatype type, const bool *without)
{
    int64_t sum = 0;
    for (int i = 0; i < many; i++)
        if (!without || !without[i])
            sum += count_at(counts, i);
    return bytes_of(sum, type);
}

int64_t bytes_of_types(int many, struct counts counts, const MPI_Datatype *types, const bool *without)
{
    int64_t sum = 0;
    for (int i = 0; i < many; i++)
        if ((!without || !without[i]) && count_at(counts, i) > 0)
            sum += bytes_of(count_at(counts, i), types[i]);
    return sum;
}

/* Returns true if this rank is the root of a collective call. On an intercommunicator the root passes
 * MPI_ROOT, and the other ranks of its group pass MPI_PROC_NULL. */
bool volume_is_root(const struct comm *comm, int root)
{
    return comm->remote ? root == MPI_ROOT : root == comm->rank;
}

static bool takes_no_part(const struct comm *comm, int root) { return comm->remote && root == MPI_PROC_NULL; }

struct volume volume_bcast(const struct comm *comm, int root, int64_t bytes)
{
    if (takes_no_part(comm, root))
        return (struct volume){0, 0};
    return volume_is_root(comm, root) ? (struct volume){bytes, 0} : (struct volume){0, bytes};
}

struct volume volume_reduce(const struct comm *comm, int root, int64_t bytes)
{
    return volume_gather(comm, root, bytes, bytes);
}

struct volume volume_gather(const struct comm *comm, int root, int64_t sent, int64_t received)
{
    if (takes_no_part(comm, root))
        return (struct volume){0, 0};
    bool is_root = volume_is_root(comm, root);
    return (struct volume){comm->remote && is_root ? 0 : sent, is_root ? received : 0};
}

struct volume volume_scatter(const struct comm *comm, int root, int64_t sent, int64_t received)
{
    if (takes_no_part(comm, root))
        return (struct volume){0, 0};
    bool is_root = volume_is_root(comm, root);
    return (struct volume){is_root ? sent : 0, comm->remote && is_root ? 0 : received};
}

struct volume volume_exchange(int64_t sent, int64_t received)
{
    return (struct volume){sent < 0 ? received : sent, received};
}
