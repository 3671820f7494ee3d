/* The data counted for each kind of row in mpi_calls.def:
 *   FN(gate, function, name, parameters, arguments, before, event)
 * `before` runs ahead of the real call, `event` behind it when it returned MPI_SUCCESS; both see the
 * parameters and the `struct traced c`. Nothing is recorded unless `gate` is true. Handles arrive as whole
 * registers (type `handle` of wrap.h). FN_OR has one more parameter, `failure`, which runs if the real call
 * returned an error. */
#ifndef IOLENS_TRACED_KINDS_H
#define IOLENS_TRACED_KINDS_H

#include "calls/row.h"

#define TYPE_data(_)              const void *
#define TYPE_memory(_)            void *
#define TYPE_compare(_)           const void *
#define TYPE_count(form)          COUNT##form
#define TYPE_recvcount(form)      COUNT##form
#define TYPE_targetcount(form)    COUNT##form
#define TYPE_counts(form)         const COUNT##form *
#define TYPE_recvcounts(form)     const COUNT##form *
#define TYPE_long_count(_)        MPI_Count
#define TYPE_displacements(_)     const void *
#define TYPE_recvdisplacements(_) const void *
#define TYPE_displacement(_)      MPI_Aint
#define TYPE_unit(form)           UNIT##form
#define TYPE_bytes(_)             MPI_Aint
#define TYPE_datatype(_)          handle
#define TYPE_recvtype(_)          handle
#define TYPE_targettype(_)        handle
#define TYPE_types(_)             const MPI_Datatype *
#define TYPE_recvtypes(_)         const MPI_Datatype *
#define TYPE_op(_)                handle
#define TYPE_comm(_)              handle
#define TYPE_peer(_)              handle
#define TYPE_peer_group(_)        handle
#define TYPE_group(_)             handle
#define TYPE_win(_)               handle
#define TYPE_info(_)              handle
#define TYPE_handler(_)           handle
#define TYPE_active(_)            handle
#define TYPE_session(_)           handle
#define TYPE_dest(_)              int
#define TYPE_source(_)            int
#define TYPE_target(_)            int
#define TYPE_root(_)              int
#define TYPE_tag(_)               int
#define TYPE_recvtag(_)           int
#define TYPE_number(_)            int
#define TYPE_outdegree(_)         int
#define TYPE_partition(_)         int
#define TYPE_partitions(_)        int
#define TYPE_assert_(_)           int
#define TYPE_kind(_)              int
#define TYPE_color(_)             int
#define TYPE_key(_)               int
#define TYPE_high(_)              int
#define TYPE_reorder(_)           int
#define TYPE_request(_)           MPI_Request *
#define TYPE_requests(_)          MPI_Request *
#define TYPE_status(_)            MPI_Status *
#define TYPE_statuses(_)          MPI_Status *
#define TYPE_message(_)           MPI_Message *
#define TYPE_flag(_)              int *
#define TYPE_index(_)             int *
#define TYPE_done(_)              int *
#define TYPE_indices(_)           int *
#define TYPE_found(_)             const void *
#define TYPE_made(_)              void *
#define TYPE_weights(_)           const void *
#define TYPE_outweights(_)        const void *
#define TYPE_targets(_)           const void *
#define TYPE_text(_)              const char *

#define COUNT   int
#define COUNT_c MPI_Count
#define UNIT    int
#define UNIT_c  MPI_Aint

#define NOTHING (void)0

/* Calls that complete requests may complete file transfers, which are counted even if MPI is not traced. */
#define TRACED    traced_what
#define COMPLETES (traced_what || !requests_none())

#define COMM      ((MPI_Comm)comm)
#define BYTES     bytes_of((int64_t)count, (MPI_Datatype)datatype)
#define RECVBYTES bytes_of((int64_t)recvcount, (MPI_Datatype)recvtype)

#define ON_TIMED(f, ...) FN(TRACED, f, __VA_ARGS__, NOTHING, NOTHING)
#define ON_SEND(f, ...)  FN(TRACED, f, __VA_ARGS__, NOTHING, traced_send(&c, COMM, dest, tag, BYTES))
/* Calls that make a communicator or a window: by all ranks of a communicator (ON_MAKES, ON_MAKES_WINDOW), or
 * by those ranks alone that are in the new communicator (ON_MAKES_SOME). */
#define ON_MAKES(f, ...)      FN(TRACED, f, __VA_ARGS__, NOTHING, traced_made(&c, COMM, *(MPI_Comm *)made))
#define ON_MAKES_SOME(f, ...) FN(TRACED, f, __VA_ARGS__, NOTHING, traced_made_by_some(&c, *(MPI_Comm *)made))
#define ON_MAKES_WINDOW(f, ...)                                                                              \
    FN(TRACED, f, __VA_ARGS__, NOTHING, traced_made_window(&c, COMM, *(MPI_Win *)made))
/* Notes that the handle belongs to a request that is not followed. */
#define PASS              requests_pass(*request, c.t1)
#define ON_ITIMED(f, ...) FN(TRACED, f, __VA_ARGS__, NOTHING, PASS)
#define ON_ISEND(f, ...)                                                                                     \
    FN(TRACED, f, __VA_ARGS__, NOTHING, traced_send_post(&c, COMM, *request, dest, tag, BYTES))
#define ON_RECV(f, ...)                                                                                      \
    FN(TRACED, f, __VA_ARGS__, before_receive(&c, COMM, source, tag, &status), traced_receive(&c, COMM))
#define ON_IRECV(f, ...)                                                                                     \
    FN(TRACED, f, __VA_ARGS__, before_post(COMM, source, tag),                                               \
       traced_post(&c, COMM, *request, source, tag, BYTES))
#define ON_SENDRECV(f, ...)                                                                                  \
    FN(TRACED, f, __VA_ARGS__, before_receive(&c, COMM, source, recvtag, &status),                           \
       (traced_send(&c, COMM, dest, tag, BYTES), traced_receive(&c, COMM)))
#define ON_ISENDRECV(f, ...)                                                                                 \
    FN(TRACED, f, __VA_ARGS__, before_post(COMM, source, recvtag),                                           \
       (traced_send(&c, COMM, dest, tag, BYTES),                                                             \
        traced_exchange_post(&c, COMM, source, RECVBYTES, *request)))
#define ON_ISENDRECV_REPLACE(f, ...)                                                                         \
    FN(TRACED, f, __VA_ARGS__, before_post(COMM, source, recvtag),                                           \
       (traced_send(&c, COMM, dest, tag, BYTES), traced_exchange_post(&c, COMM, source, BYTES, *request)))
#define ON_MPROBE(f, name, ...)                                                                              \
    FN(TRACED, f, name, __VA_ARGS__, NOTHING, traced_mprobe(&c, COMM, *message, MATCHED_##name))
#define MATCHED_Mprobe  source != MPI_PROC_NULL
#define MATCHED_Improbe (*flag && source != MPI_PROC_NULL)
#define ON_MRECV(f, ...)                                                                                     \
    FN_OR(TRACED, f, __VA_ARGS__, before_matched(&c, *message, &status), traced_matched(&c),                 \
          failed_matched(&c))
#define ON_IMRECV(f, ...)                                                                                    \
    FN_OR(TRACED, f, __VA_ARGS__, before_matched(&c, *message, NULL), traced_matched_post(&c, *request),     \
          failed_matched(&c))

#define ON_SEND_INIT(f, ...)                                                                                 \
    FN(TRACED, f, __VA_ARGS__, NOTHING, traced_send_init(&c, COMM, dest, tag, BYTES, *request))
#define ON_RECV_INIT(f, ...)                                                                                 \
    FN(TRACED, f, __VA_ARGS__, NOTHING, traced_receive_init(&c, COMM, source, tag, *request))
#define ON_PSEND_INIT(f, ...)                                                                                \
    FN(TRACED, f, __VA_ARGS__, NOTHING,                                                                      \
       traced_send_init(&c, COMM, dest, IOLENS_ANY,                                                          \
                        partitions *bytes_of((int64_t)long_count, (MPI_Datatype)datatype), *request))
#define ON_PRECV_INIT(f, ...)                                                                                \
    FN(TRACED, f, __VA_ARGS__, NOTHING,                                                                      \
       traced_partitioned_init(&c, COMM, source,                                                             \
                               partitions *bytes_of((int64_t)long_count, (MPI_Datatype)datatype), *request))
#define ON_START(f, ...)    FN(TRACED, f, __VA_ARGS__, NOTHING, traced_start(&c, *request))
#define ON_STARTALL(f, ...) FN(TRACED, f, __VA_ARGS__, NOTHING, traced_start_all(&c, number, requests))

#define ON_WAIT(f, ...)                                                                                      \
    FN_OR(COMPLETES, f, __VA_ARGS__, before_complete(&c, *request, &status), traced_complete(&c),            \
          failed_complete(&c, *request))
#define ON_TEST(f, ...)                                                                                      \
    FN_OR(COMPLETES, f, __VA_ARGS__, before_complete(&c, *request, &status),                                 \
          *flag ? traced_complete(&c) : NOTHING, failed_complete(&c, *request))
/* Records the completion of several requests. `statuses` points to the status or the statuses that the call
 * writes. The completed requests are those in `indices` or, if `indices` is NULL, the first `completed`
 * requests. */
#define COMPLETES_MANY(f, statuses, one, completed, indices, ...)                                            \
    FN_OR(COMPLETES, f, __VA_ARGS__, before_complete_many(&c, number, requests, &statuses, one),             \
          traced_complete_many(&c, completed, indices),                                                      \
          failed_complete_many(&c, requests, failed_in_status(code) ? completed : 0, indices))
#define ON_WAITALL(f, ...) COMPLETES_MANY(f, statuses, false, number, NULL, __VA_ARGS__)
#define ON_TESTALL(f, ...) COMPLETES_MANY(f, statuses, false, *flag ? number : 0, NULL, __VA_ARGS__)
#define ON_WAITANY(f, ...)                                                                                   \
    COMPLETES_MANY(f, status, true, *index == MPI_UNDEFINED ? 0 : 1, index, __VA_ARGS__)
#define ON_TESTANY(f, ...)                                                                                   \
    COMPLETES_MANY(f, status, true, !*flag || *index == MPI_UNDEFINED ? 0 : 1, index, __VA_ARGS__)
#define ON_WAITSOME(f, ...)                                                                                  \
    COMPLETES_MANY(f, statuses, false, *done == MPI_UNDEFINED ? 0 : *done, indices, __VA_ARGS__)
#define ON_FREE(f, ...)   FN(COMPLETES, f, __VA_ARGS__, requests_forget(*request, INFINITY), NOTHING)
#define ON_CANCEL(f, ...) FN(TRACED, f, __VA_ARGS__, before_cancel(*request), NOTHING)

/* In a collective call on an intercommunicator, ranks that take no part ignore some arguments, and the root
 * ignores the arguments for a block of its own. */
#define TAKES_PART (!of->remote || root != MPI_PROC_NULL)
#define HAS_BLOCK  (!of->remote || (root != MPI_PROC_NULL && root != MPI_ROOT))

/* Sets the root of a collective call; -1 if the call has none. */
#define ROOT_BARRIER              -1
#define ROOT_BCAST                root
#define ROOT_REDUCE               root
#define ROOT_ALLREDUCE            -1
#define ROOT_EXSCAN               -1
#define ROOT_GATHER               root
#define ROOT_GATHERV              root
#define ROOT_SCATTER              root
#define ROOT_SCATTERV             root
#define ROOT_ALLGATHER            -1
#define ROOT_ALLGATHERV           -1
#define ROOT_ALLTOALL             -1
#define ROOT_ALLTOALLV            -1
#define ROOT_ALLTOALLW            -1
#define ROOT_REDUCE_SCATTER       -1
#define ROOT_REDUCE_SCATTER_BLOCK -1
#define ROOT_NEIGHBOR_ALLGATHER   -1
#define ROOT_NEIGHBOR_ALLGATHERV  -1
#define ROOT_NEIGHBOR_ALLTOALL    -1
#define ROOT_NEIGHBOR_ALLTOALLV   -1
#define ROOT_NEIGHBOR_ALLTOALLW   -1

/* `many` is the C type of the counts. */
#define VOLUME_BARRIER(many)   ((struct volume){0, 0})
#define VOLUME_BCAST(many)     volume_bcast(of, root, TAKES_PART ? BYTES : 0)
#define VOLUME_REDUCE(many)    volume_reduce(of, root, TAKES_PART ? BYTES : 0)
#define VOLUME_ALLREDUCE(many) ((struct volume){BYTES, BYTES})
/* Rank 0 has no lower ranks, so MPI leaves its receive buffer unchanged. */
#define VOLUME_EXSCAN(many) ((struct volume){BYTES, of->rank == 0 ? 0 : BYTES})
#define VOLUME_GATHER(many)                                                                                  \
    volume_gather(of, root,                                                                                  \
                  !HAS_BLOCK             ? 0                                                                 \
                  : data == MPI_IN_PLACE ? RECVBYTES                                                         \
                                         : BYTES,                                                            \
                  volume_is_root(of, root) ? comm_peers(of) * RECVBYTES : 0)
#define VOLUME_GATHERV(many)                                                                                 \
    volume_gather(of, root,                                                                                  \
                  !HAS_BLOCK             ? 0                                                                 \
                  : data == MPI_IN_PLACE ? bytes_of(recvcounts[of->rank], (MPI_Datatype)recvtype)            \
                                         : BYTES,                                                            \
                  volume_is_root(of, root) ? ALL(many, comm_peers(of), recvcounts, recvtype) : 0)
#define VOLUME_SCATTER(many)                                                                                 \
    volume_scatter(of, root, volume_is_root(of, root) ? comm_peers(of) * BYTES : 0,                          \
                   !HAS_BLOCK               ? 0                                                              \
                   : memory == MPI_IN_PLACE ? BYTES                                                          \
                                            : RECVBYTES)
#define VOLUME_SCATTERV(many)                                                                                \
    volume_scatter(of, root, volume_is_root(of, root) ? ALL(many, comm_peers(of), counts, datatype) : 0,     \
                   !HAS_BLOCK               ? 0                                                              \
                   : memory == MPI_IN_PLACE ? bytes_of(counts[of->rank], (MPI_Datatype)datatype)             \
                                            : RECVBYTES)
#define VOLUME_ALLGATHER(many)                                                                               \
    ((struct volume){data == MPI_IN_PLACE ? RECVBYTES : BYTES, comm_peers(of) * RECVBYTES})
#define VOLUME_ALLGATHERV(many)                                                                              \
    ((struct volume){data == MPI_IN_PLACE ? bytes_of(recvcounts[of->rank], (MPI_Datatype)recvtype) : BYTES,  \
                     ALL(many, comm_peers(of), recvcounts, recvtype)})
#define VOLUME_ALLTOALL(many)                                                                                \
    ((struct volume){comm_peers(of) * (data == MPI_IN_PLACE ? RECVBYTES : BYTES), comm_peers(of) * RECVBYTES})
#define VOLUME_ALLTOALLV(many)                                                                               \
    volume_exchange(data == MPI_IN_PLACE ? -1 : ALL(many, comm_peers(of), counts, datatype),                 \
                    ALL(many, comm_peers(of), recvcounts, recvtype))
#define VOLUME_ALLTOALLW(many)                                                                               \
    volume_exchange(                                                                                         \
        data == MPI_IN_PLACE                                                                                 \
            ? -1                                                                                             \
            : bytes_of_types(comm_peers(of), (struct counts){counts, WIDE##many}, types, NULL),              \
        bytes_of_types(comm_peers(of), (struct counts){recvcounts, WIDE##many}, recvtypes, NULL))
#define VOLUME_REDUCE_SCATTER(many)                                                                          \
    ((struct volume){ALL(many, of->size, recvcounts, datatype),                                              \
                     bytes_of(recvcounts[of->rank], (MPI_Datatype)datatype)})
#define VOLUME_REDUCE_SCATTER_BLOCK(many) ((struct volume){of->size * BYTES, BYTES})
#define VOLUME_NEIGHBOR_ALLGATHER(many)                                                                      \
    ((struct volume){of->out > of->beyond ? BYTES : 0, (of->in - of->beyond) * RECVBYTES})
#define VOLUME_NEIGHBOR_ALLGATHERV(many)                                                                     \
    ((struct volume){of->out > of->beyond ? BYTES : 0, NEIGHBOURS(many, of->in, recvcounts, recvtype)})
#define VOLUME_NEIGHBOR_ALLTOALL(many)                                                                       \
    ((struct volume){(of->out - of->beyond) * BYTES, (of->in - of->beyond) * RECVBYTES})
#define VOLUME_NEIGHBOR_ALLTOALLV(many)                                                                      \
    ((struct volume){NEIGHBOURS(many, of->out, counts, datatype),                                            \
                     NEIGHBOURS(many, of->in, recvcounts, recvtype)})
#define VOLUME_NEIGHBOR_ALLTOALLW(many)                                                                      \
    ((struct volume){                                                                                        \
        bytes_of_types(of->out, (struct counts){counts, WIDE##many}, types, of->is_beyond),                  \
        bytes_of_types(of->in, (struct counts){recvcounts, WIDE##many}, recvtypes, of->is_beyond)})

#define ALL(many, number, array, type)                                                                       \
    bytes_of_all(number, (struct counts){array, WIDE##many}, (MPI_Datatype)type, NULL)
#define NEIGHBOURS(many, number, array, type)                                                                \
    bytes_of_all(number, (struct counts){array, WIDE##many}, (MPI_Datatype)type, of->is_beyond)
#define WIDE   false
#define WIDE_c true

/* The variable `of` points to the description of the communicator (struct comm) while the statement runs. */
#define WITH_COMM(statement)                                                                                 \
    do {                                                                                                     \
        const struct comm *of = comm_of(COMM);                                                               \
        if (of) {                                                                                            \
            statement;                                                                                       \
        }                                                                                                    \
    } while (0)

#define COLLECTIVE_AS(many, kind, name, iname, ...)                                                          \
    FN(TRACED, name, name##many, (PARAMETERS(many, __VA_ARGS__)), (__VA_ARGS__), before_collective(COMM),    \
       WITH_COMM(traced_together(&c, of, ROOT_##kind, VOLUME_##kind(many))))                                 \
    FN(TRACED, iname, iname##many, (PARAMETERS(many, __VA_ARGS__, request)), (__VA_ARGS__, request),         \
       NOTHING, WITH_COMM(traced_together_post(&c, of, ROOT_##kind, VOLUME_##kind(many), *request)))
#define COLLECTIVE_INIT_AS(many, kind, name, ...)                                                            \
    FN(TRACED, name##_init, name##_init##many, (PARAMETERS(many, __VA_ARGS__, info, request)),               \
       (__VA_ARGS__, info, request), NOTHING,                                                                \
       WITH_COMM(traced_collective_init(&c, of, ROOT_##kind, VOLUME_##kind(many), *request)))

/* Calls that begin and end epochs of one-sided communication. */
#define WIN                  ((MPI_Win)win)
#define ON_WIN_FENCE(f, ...) FN(TRACED, f, __VA_ARGS__, NOTHING, traced_fence(&c, WIN))
#define ON_WIN_FREE(f, ...)                                                                                  \
    FN(TRACED, f, __VA_ARGS__, before_window_free(&c, *(MPI_Win *)made), traced_window_free(&c))
#define ON_WIN_GROUP(f, ...)                                                                                 \
    FN(TRACED, f, __VA_ARGS__, NOTHING, link_epoch_of_group(&c, WIN, (MPI_Group)group))
#define ON_WIN_ALL(f, ...)  FN(TRACED, f, __VA_ARGS__, NOTHING, link_epoch_of_all(&c, WIN))
#define ON_WIN_TEST(f, ...) FN(TRACED, f, __VA_ARGS__, NOTHING, *flag ? link_epoch_of_all(&c, WIN) : NOTHING)
#define ON_WIN_LOCK(f, ...)                                                                                  \
    FN(TRACED, f, __VA_ARGS__, NOTHING, link_epoch(&c, WIN, target, kind == MPI_LOCK_EXCLUSIVE))
#define ON_WIN_UNLOCK(f, ...) FN(TRACED, f, __VA_ARGS__, NOTHING, link_epoch(&c, WIN, target, false))

#define TO_TARGET       traced_one_sided((MPI_Win)win, target, BYTES, -1)
#define FROM_TARGET     traced_one_sided((MPI_Win)win, target, -1, BYTES)
#define ON_PUT(f, ...)  FN(TRACED, f, __VA_ARGS__, NOTHING, TO_TARGET)
#define ON_GET(f, ...)  FN(TRACED, f, __VA_ARGS__, NOTHING, FROM_TARGET)
#define ON_RPUT(f, ...) FN(TRACED, f, __VA_ARGS__, NOTHING, (TO_TARGET, PASS))
#define ON_RGET(f, ...) FN(TRACED, f, __VA_ARGS__, NOTHING, (FROM_TARGET, PASS))
/* With MPI_NO_OP nothing is sent, and the arguments that describe the data are ignored. */
#define NO_OP                      ((MPI_Op)op == mpi.no_op)
#define TO_AND_FRO                 traced_one_sided((MPI_Win)win, target, NO_OP ? -1 : BYTES, RECVBYTES)
#define ON_GET_ACCUMULATE(f, ...)  FN(TRACED, f, __VA_ARGS__, NOTHING, TO_AND_FRO)
#define ON_RGET_ACCUMULATE(f, ...) FN(TRACED, f, __VA_ARGS__, NOTHING, (TO_AND_FRO, PASS))
#define ONE_ELEMENT                bytes_of(1, (MPI_Datatype)datatype)
#define ON_FETCH_AND_OP(f, ...)                                                                              \
    FN(TRACED, f, __VA_ARGS__, NOTHING,                                                                      \
       traced_one_sided((MPI_Win)win, target, NO_OP ? -1 : ONE_ELEMENT, ONE_ELEMENT))
#define ON_COMPARE_AND_SWAP(f, ...)                                                                          \
    FN(TRACED, f, __VA_ARGS__, NOTHING, traced_one_sided((MPI_Win)win, target, ONE_ELEMENT, ONE_ELEMENT))

#define MPI_CALL_AS(many, kind, name, ...)                                                                   \
    ON_##kind(name, name##many, (PARAMETERS(many, ##__VA_ARGS__)), (__VA_ARGS__))

#define COLLECTIVE_BOTH(kind, name, iname, ...)                                                              \
    COLLECTIVE_AS(, kind, name, iname, __VA_ARGS__)                                                          \
    COLLECTIVE_INIT_AS(, kind, name, __VA_ARGS__)

#define BY_HAND(name)
#define MPI_CALL(...) MPI_CALL_AS(, __VA_ARGS__)

#if MPI_VERSION >= 4
#define MPI_CALL_C(...)  MPI_CALL_AS(, __VA_ARGS__) MPI_CALL_AS(_c, __VA_ARGS__)
#define MPI4_CALL_C(...) MPI_CALL_AS(, __VA_ARGS__) MPI_CALL_AS(_c, __VA_ARGS__)
#define MPI4_CALL(...)   MPI_CALL_AS(, __VA_ARGS__)
#define COLLECTIVE(...)  COLLECTIVE_BOTH(__VA_ARGS__) COLLECTIVE_C(__VA_ARGS__)
#define COLLECTIVE_C(kind, name, iname, ...)                                                                 \
    COLLECTIVE_AS(_c, kind, name, iname, __VA_ARGS__)                                                        \
    COLLECTIVE_INIT_AS(_c, kind, name, __VA_ARGS__)
#define SYNCHRONIZING(...) COLLECTIVE_BOTH(__VA_ARGS__)
/* Open MPI 5 has most functions of MPI 4, but none whose name ends in _c. */
#elif defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
#define MPI_CALL_C(...)    MPI_CALL_AS(, __VA_ARGS__)
#define MPI4_CALL_C(...)   MPI_CALL_AS(, __VA_ARGS__)
#define MPI4_CALL(...)     MPI_CALL_AS(, __VA_ARGS__)
#define COLLECTIVE(...)    COLLECTIVE_BOTH(__VA_ARGS__)
#define SYNCHRONIZING(...) COLLECTIVE_BOTH(__VA_ARGS__)
#else
#define MPI_CALL_C(...) MPI_CALL_AS(, __VA_ARGS__)
#define MPI4_CALL_C(...)
#define MPI4_CALL(...)
#define COLLECTIVE(...)    COLLECTIVE_AS(, __VA_ARGS__)
#define SYNCHRONIZING(...) COLLECTIVE_AS(, __VA_ARGS__)
#endif

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
#define MPI41_CALL_C(...) MPI_CALL_C(__VA_ARGS__)
#define MPI41_CALL(...)   MPI_CALL(__VA_ARGS__)
#else
#define MPI41_CALL_C(...)
#define MPI41_CALL(...)
#endif

#endif
