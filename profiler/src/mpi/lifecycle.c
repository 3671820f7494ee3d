/* Wraps MPI_Init and MPI_Finalize: the job begins in the first, and its only log is written in the second.
 *
 * MPI_Finalize first calls the delete callbacks of the attributes of MPI_COMM_SELF, in which MPI still works
 * and libraries such as HDF5 write what remains. The attribute that was set first is deleted last, so the
 * profiler sets one at the end of MPI_Init and writes the log in its callback. */
#include "attendance.h"
#include "comms.h"
#include "links.h"
#include "parameters.h"
#include "traced.h"
#include "transport.h"
#include "wrap.h"

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
