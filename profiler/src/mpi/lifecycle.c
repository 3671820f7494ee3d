/* Wraps MPI_Init and MPI_Finalize: the job begins in the first, and its only log is written in the second. */
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
static bool all_count; /* True if MPI is traced on every rank. */

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
    all_count = common & IOLENS_MPI_CALLS;
    if (!(common & IOLENS_MPI_SYNC))
        traced_what &= ~(unsigned)IOLENS_MPI_SYNC;
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

/* Counts MPI_Finalize before it is called. The log cannot contain the library's own work in it, but it
 * contains the time that this rank waited for the last rank. */
static void count_finalize(void *caller)
{
    struct iolens_mpi_call call = {.function = IOLENS_MPI_Finalize, .caller = (uintptr_t)caller};
    call.t0 = link_start();
    if (all_count)
        pmpi.Barrier(mpi.world);
    call.t1 = iolens_now();
    link_all(&call, mpi.world);
    iolens_mpi_call(&call);
    iolens_spend(iolens_spent(), call.t1 - call.t0);
}

static void finish(void *caller)
{
    if (!started)
        return;
    mpi_depth++;
    if (traced_what)
        count_finalize(caller);
    traced_what = 0;
    iolens_parallel_finish();
    transport_close();
    mpi_depth--;
    started = false;
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

IOLENS_EXPORT int MPI_Finalize(void)
{
    finish(__builtin_return_address(0));
    return CALL_REAL("MPI_Finalize", MPI_Finalize, ());
}

IOLENS_EXPORT int PMPI_Finalize(void)
{
    finish(__builtin_return_address(0));
    return CALL_REAL("PMPI_Finalize", PMPI_Finalize, ());
}
