/* Wraps MPI_Init and MPI_Finalize: the job begins in the first, and its only log is written in the second.
 *
 * MPI_Finalize first calls the delete callbacks of the attributes of MPI_COMM_SELF, in which MPI still works
 * and libraries such as HDF5 write what remains. The attribute that was set first is deleted last, so the
 * profiler sets one at the end of MPI_Init and writes the log in its callback. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comms.h"
#include "core.h"
#include "links.h"
#include "traced.h"
#include "wrap.h"

/* The collective operations that the core needs, over a private duplicate of MPI_COMM_WORLD. */

/* MPI counts are ints, so longer messages are split. */
#define PIECE ((size_t)1 << 30)

static MPI_Comm ranks_comm;
static struct iolens_transport ranks_transport;

static int status(int code) { return code == MPI_SUCCESS ? 0 : -1; }

static int barrier(void) { return status(pmpi.Barrier(ranks_comm)); }

static int bcast(void *buffer, size_t bytes, int root)
{
    for (size_t done = 0; done < bytes; done += PIECE) {
        size_t piece = bytes - done < PIECE ? bytes - done : PIECE;
        if (pmpi.Bcast((char *)buffer + done, (int)piece, mpi.byte, root, ranks_comm) != MPI_SUCCESS)
            return -1;
    }
    return 0;
}

static int allreduce(void *buffer, size_t count, enum iolens_type type, enum iolens_op op)
{
    const MPI_Datatype types[] = {
        [IOLENS_INT64] = mpi.int64, [IOLENS_DOUBLE] = mpi.real64, [IOLENS_UINT8] = mpi.byte};
    const MPI_Op ops[] = {
        [IOLENS_MIN] = mpi.min, [IOLENS_MAX] = mpi.max, [IOLENS_SUM] = mpi.sum, [IOLENS_BAND] = mpi.band};
    if (count > INT_MAX)
        return -1;
    return status(pmpi.Allreduce(MPI_IN_PLACE, buffer, (int)count, types[type], ops[op], ranks_comm));
}

static int exscan_sum(uint64_t *values, size_t count)
{
    if (count > INT_MAX ||
        pmpi.Exscan(MPI_IN_PLACE, values, (int)count, mpi.uint64, mpi.sum, ranks_comm) != MPI_SUCCESS)
        return -1;
    if (ranks_transport.rank == 0) /* MPI leaves the result of an exclusive scan undefined on rank 0. */
        memset(values, 0, count * sizeof *values);
    return 0;
}

static int gather(const void *send, size_t bytes, void *receive)
{
    if (bytes > INT_MAX)
        return -1;
    return status(pmpi.Gather(send, (int)bytes, mpi.byte, receive, (int)bytes, mpi.byte, 0, ranks_comm));
}

/* The function with which the current reduction combines records; MPI_Op gives no other way to pass it. */
static struct {
    iolens_combine_fn *combine;
    size_t record_bytes;
} reduction;

static void combine_records(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++) {
        size_t at = (size_t)i * reduction.record_bytes;
        reduction.combine((char *)in + at, (char *)inout + at);
    }
}

static int reduce_records(void *records, size_t record_bytes, size_t count, iolens_combine_fn *combine)
{
    MPI_Datatype type;
    MPI_Op op;
    if (record_bytes > INT_MAX || count > INT_MAX)
        return -1;
    if (pmpi.Type_contiguous((int)record_bytes, mpi.byte, &type) != MPI_SUCCESS)
        return -1;
    reduction.combine = combine;
    reduction.record_bytes = record_bytes;
    int code = pmpi.Type_commit(&type);
    if (code == MPI_SUCCESS && (code = pmpi.Op_create(combine_records, 0, &op)) == MPI_SUCCESS) {
        bool root = ranks_transport.rank == 0;
        code = pmpi.Reduce(root ? MPI_IN_PLACE : records, root ? records : NULL, (int)count, type, op, 0,
                           ranks_comm);
        pmpi.Op_free(&op);
    }
    pmpi.Type_free(&type);
    return status(code);
}

static int send(const void *buffer, size_t bytes, int rank)
{
    return bytes > INT_MAX ? -1 : status(pmpi.Send(buffer, (int)bytes, mpi.byte, rank, 0, ranks_comm));
}

static int receive(void *buffer, size_t bytes, int rank)
{
    return bytes > INT_MAX
               ? -1
               : status(pmpi.Recv(buffer, (int)bytes, mpi.byte, rank, 0, ranks_comm, MPI_STATUS_IGNORE));
}

/* Collective, in MPI_Init. Duplicates MPI_COMM_WORLD and returns the ranks_transport, or NULL if MPI failed.
 */
static const struct iolens_transport *transport_open(void)
{
    if (pmpi.Comm_dup(mpi.world, &ranks_comm) != MPI_SUCCESS)
        return NULL;
    ranks_transport = (struct iolens_transport){
        .mpi_version = mpi_library(),
        .barrier = barrier,
        .bcast = bcast,
        .allreduce = allreduce,
        .exscan_sum = exscan_sum,
        .gather = gather,
        .reduce_records = reduce_records,
        .send = send,
        .receive = receive,
    };
    pmpi.Comm_rank(ranks_comm, &ranks_transport.rank);
    pmpi.Comm_size(ranks_comm, &ranks_transport.size);
    return &ranks_transport;
}

static void transport_close(void) { pmpi.Comm_free(&ranks_comm); }

/* Agreement of all ranks of a job, some of which may not have this library, on writing one log together. */

/* If a rank gives up in the first round, it takes no part in the second, which then fails on all other ranks.
 * The second round waits longer than the first, because ranks may begin it at different times. */
enum { ROUNDS = 2, PATIENCE_SECONDS = 60, PATIENCE_AT_END_SECONDS = 600 };

/* Values that all ranks combine in one round; MPI may still use them after this rank has given up. */
struct round {
    int64_t recorded; /* Minimum over the ranks: 1 if all ranks are recorded. */
    int64_t first;    /* Minimum over the ranks: the first recorded rank. */
};
static struct round at_begin[ROUNDS], at_end[ROUNDS];

/* Combines the values of all ranks, and returns true if all took part within some seconds. Only non-blocking
 * calls let a rank continue without the others. */
static bool meet(struct round *round, double seconds)
{
    MPI_Request request;
    int met = 0;
    double end = pmpi.Wtime() + seconds;
    if (pmpi.Iallreduce(MPI_IN_PLACE, round, sizeof *round / sizeof(int64_t), mpi.int64, mpi.min, mpi.world,
                        &request) != MPI_SUCCESS)
        return false;
    while (!met && pmpi.Wtime() < end)
        if (pmpi.Test(&request, &met, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return false;
    return met;
}

/* Combines a value of all ranks in all rounds; returns true if all ranks took part in each. */
static bool meet_always(struct round rounds[ROUNDS], struct round mine, int patience)
{
    bool met = true;
    for (int i = 0; met && i < ROUNDS; i++) {
        rounds[i] = mine;
        met = meet(&rounds[i], (i + 1) * patience);
    }
    return met;
}

static void tell(const char *sentence)
{
    if (iolens_tell)
        iolens_tell(sentence);
}

/* Returns true if the job is known to have only one program; Open MPI's launchers say how many it has. */
static bool is_one_program(void)
{
    const char *programs = getenv("OMPI_NUM_APP_CTX");
    return programs && strcmp(programs, "1") == 0;
}

static bool are_neighbours_recorded(int size)
{
    return size == 1 || is_one_program() || !iolens_neighbours_are_recorded ||
           iolens_neighbours_are_recorded();
}

static bool say_incomplete(bool says)
{
    if (says)
        tell("some ranks of the job run without the profiler; each of the others writes a log of its own, "
             "without MPI. If they are on other hosts, the launcher did not hand on LD_PRELOAD and the "
             "variables IOLENS_*; with Open MPI, each needs an option: mpirun -x LD_PRELOAD");
    return false;
}

/* Returns true if all ranks of MPI_COMM_WORLD are recorded; if not, prints the reason, on one or two ranks,
 * and returns false on all ranks. `recorded` is true if this rank is recorded. Collective over the ranks that
 * have this library. A rank that does not take part, because its program lacks this library, is waited for
 * one minute: such a program could make a non-blocking collective call that MPI matches with a round, so the
 * processes of this node are examined first. */
static bool attendance_is_complete(bool recorded)
{
    int rank, size;
    pmpi.Comm_rank(mpi.world, &rank);
    pmpi.Comm_size(mpi.world, &size);
    if (!are_neighbours_recorded(size))
        return say_incomplete(rank == 0 || rank == size - 1);
    if (meet_always(at_begin, (struct round){recorded, recorded ? rank : size}, PATIENCE_SECONDS))
        return at_begin[0].recorded || say_incomplete(at_begin[0].first == rank);
    /* If some ranks take no part, the others cannot agree on who prints the message. The first and the last
     * rank print it: in a job of two programs, each program has one of them. */
    if (rank == 0 || rank == size - 1)
        tell("some ranks of the job did not answer within a minute, as if their program ran without the "
             "profiler's MPI adapter; each of the others writes a log of its own, without MPI. `iolens "
             "run --apart` does so without waiting");
    return false;
}

/* Waits until all ranks have called this function, however long that takes. */
static void attendance_wait(void)
{
    static struct round waiting;
    meet(&waiting, HUGE_VAL);
}

/* Returns true if all ranks have called this function. Collective at the end of MPI's communication. A rank
 * may be missing: if one of the program's own delete callbacks fails, MPI may skip the profiler's. The other
 * ranks then give up after ten minutes, since one rank may have much to do before it ends. */
static bool attendance_ends(void) { return meet_always(at_end, (struct round){0}, PATIENCE_AT_END_SECONDS); }

__thread int mpi_depth;
static bool attached;
static bool started;
static bool has_callback;     /* True if MPI_Finalize calls finish_with_self. */
static void *finalize_caller; /* The code that called MPI_Finalize. */
static double finalize_begin;

__attribute__((constructor)) static void attach(void)
{
    attached = iolens_adapter_attach && iolens_adapter_attach(IOLENS_ADAPTER_ABI) == 0;
}

bool mpi_active(void) { return started && mpi_depth == 0 && iolens_recording(); }

/* Switches timed barriers off unless all ranks make them, because some ranks may be excluded from recording
 * (IOLENS_RANK_EXCLUDE). */
static void agree(const struct iolens_transport *transport)
{
    uint8_t common = (uint8_t)traced_what;
    if (transport->allreduce(&common, 1, IOLENS_UINT8, IOLENS_BAND) != 0)
        common = 0;
    if (!(common & IOLENS_MPI_SYNC))
        traced_what &= ~(unsigned)IOLENS_MPI_SYNC;
}

/* Waits until the callbacks of all ranks have ended, and counts the time since MPI_Finalize began as its own:
 * the log cannot contain the library's own work in it. Returns false if some ranks do not come. */
static bool all_have_come(void)
{
    struct iolens_mpi_call call = {
        .function = IOLENS_MPI_Finalize, .caller = (uintptr_t)finalize_caller, .t0 = finalize_begin};
    if (!attendance_ends())
        return false;
    call.t1 = iolens_now();
    if (!traced_what)
        return true;
    link_all(&call, mpi.world);
    iolens_mpi_call(&call);
    iolens_spend(iolens_spent(), call.t1 - call.t0);
    return true;
}

/* Writes the job's log. If some ranks do not come to write it, the records of all ranks stay in their
 * spools. */
static void finish(void)
{
    mpi_depth++;
    bool complete = all_have_come();
    traced_what = 0;
    if (complete) {
        iolens_parallel_finish();
        transport_close();
        started = false;
    }
    mpi_depth--;
}

static int finish_with_self(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    finish();
    return MPI_SUCCESS;
}

static int copy_nothing(MPI_Comm comm, int key, void *extra, void *in, void *out, int *copied)
{
    (void)comm, (void)key, (void)extra, (void)in, (void)out;
    *copied = 0;
    return MPI_SUCCESS;
}

static bool set_callback(void)
{
    int keyval;
    return pmpi.Comm_create_keyval(copy_nothing, finish_with_self, &keyval, NULL) == MPI_SUCCESS &&
           pmpi.Comm_set_attr(mpi.self, keyval, NULL) == MPI_SUCCESS;
}

/* Starts recording as a rank after MPI_Init, which had ended at `t1`. A job's log is written by all its
 * ranks: if some are not recorded, because one of several programs is left out (IOLENS_APP_EXCLUDE) or runs
 * without this library, the others write logs of their own. */
static void start(double t1)
{
    int level;
    if (started || !mpi_handles_load() || !attendance_is_complete(attached && iolens_recording()))
        return;
    const struct iolens_transport *transport = transport_open();
    if (!transport)
        return;
    iolens_parallel_start(transport);
    has_callback = set_callback();
    traced_what = comms_start() ? iolens_mpi_tracing() : 0;
    agree(transport);
    started = true;
    if (!traced_what)
        return;
    parameters_tell();
    if (pmpi.Query_thread(&level) != MPI_SUCCESS)
        return;
    if (level == MPI_THREAD_MULTIPLE)
        requests_of_threads();
    double seconds = iolens_now() - t1;
    iolens_mpi_began(level, seconds);
    iolens_spend(iolens_spent(), seconds);
}

/* Calls the real MPI_Finalize. The log is complete when it returns; the process records what follows by
 * itself. */
static int finalize(void *caller, int (*real)(void))
{
    bool ending = started;
    finalize_caller = caller;
    if (started) {
        /* Some ranks may have much to do before they end; the callbacks should not have. */
        finalize_begin = link_start();
        attendance_wait();
    }
    if (started && !has_callback)
        finish();
    int code = real();
    if (ending && !started)
        iolens_parallel_rest();
    return code;
}

/* Begins MPI_Init, in which the library's own work is not the program's I/O and is not recorded. A nested
 * call, of a language binding or another tool, must not start the job a second time. */
static void enter(void)
{
    if (mpi_depth++ == 0 && attached)
        iolens_pause(true);
}

static void leave(int code, const struct iolens_mpi_call *call)
{
    if (--mpi_depth > 0)
        return;
    if (attached)
        iolens_pause(false);
    if (code == MPI_SUCCESS)
        start(call->t1);
    if (!traced_what)
        return;
    link_all(call, mpi.world);
    iolens_mpi_call(call);
    iolens_spend(iolens_spent(), call->t1 - call->t0);
}

static double now(void) { return attached ? iolens_now() : 0; }

#define INIT(which, symbol, params, args)                                                                    \
    IOLENS_EXPORT int symbol params                                                                          \
    {                                                                                                        \
        struct iolens_mpi_call call = {.function = IOLENS_MPI_##which,                                       \
                                       .caller = (uintptr_t)__builtin_return_address(0)};                    \
        enter();                                                                                             \
        call.t0 = now();                                                                                     \
        int code = CALL_REAL(#symbol, symbol, args);                                                         \
        call.t1 = now();                                                                                     \
        leave(code, &call);                                                                                  \
        return code;                                                                                         \
    }

INIT(Init, MPI_Init, (int *argc, char ***argv), (argc, argv))
INIT(Init, PMPI_Init, (int *argc, char ***argv), (argc, argv))
INIT(Init_thread, MPI_Init_thread, (int *argc, char ***argv, int required, int *provided),
     (argc, argv, required, provided))
INIT(Init_thread, PMPI_Init_thread, (int *argc, char ***argv, int required, int *provided),
     (argc, argv, required, provided))

static int real_finalize(void) { return CALL_REAL("MPI_Finalize", MPI_Finalize, ()); }
static int real_profiled_finalize(void) { return CALL_REAL("PMPI_Finalize", PMPI_Finalize, ()); }

IOLENS_EXPORT int MPI_Finalize(void) { return finalize(__builtin_return_address(0), real_finalize); }

IOLENS_EXPORT int PMPI_Finalize(void)
{
    return finalize(__builtin_return_address(0), real_profiled_finalize);
}
