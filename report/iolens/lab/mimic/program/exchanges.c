/* Exchanges between ranks. */

/* Returns the rank in a communicator of a rank of MPI_COMM_WORLD. */
static int rank_in(MPI_Comm comm, long world_rank)
{
    MPI_Group all, mine;
    int from = (int)(world_rank < 0 ? 0 : world_rank), found;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(comm, &mine);
    MPI_Group_translate_ranks(all, 1, &from, mine, &found);
    MPI_Group_free(&all);
    MPI_Group_free(&mine);
    return found == MPI_UNDEFINED ? 0 : found;
}

static void exchange(enum kind kind, const long *value)
{
    MPI_Comm comm = communicators[value[DETAIL]];
    int bytes = (int)value[LENGTH], root = rank_in(comm, value[OFFSET]);
    char *back = memory + LARGEST;
    switch (kind) {
    case BARRIER:
        MPI_Barrier(comm);
        break;
    case BCAST:
        MPI_Bcast(memory, bytes, MPI_BYTE, root, comm);
        break;
    case REDUCE:
        MPI_Reduce(memory, back, bytes, MPI_BYTE, MPI_BOR, root, comm);
        break;
    case ALLREDUCE:
        MPI_Allreduce(memory, back, bytes, MPI_BYTE, MPI_BOR, comm);
        break;
    case GATHER:
        MPI_Gather(memory, bytes, MPI_BYTE, back, bytes, MPI_BYTE, root, comm);
        break;
    case ALLGATHER:
        MPI_Allgather(memory, bytes, MPI_BYTE, back, bytes, MPI_BYTE, comm);
        break;
    case SCATTER:
        MPI_Scatter(memory, bytes, MPI_BYTE, back, bytes, MPI_BYTE, root, comm);
        break;
    default:
        MPI_Alltoall(memory, bytes, MPI_BYTE, back, bytes, MPI_BYTE, comm);
    }
}
