/* MPI_Init and MPI_Finalize: where a job begins and where its one log is written. */
#include "transport.h"
#include "wrap.h"

__thread int mpi_depth;
static bool attached;
static bool started;

__attribute__((constructor)) static void attach(void)
{
    attached = iolens_adapter_attach && iolens_adapter_attach(IOLENS_ADAPTER_ABI) == 0;
}

bool mpi_active(void) { return started && mpi_depth == 0 && iolens_recording(); }

static void start(void)
{
    if (!attached || started || !mpi_handles_load())
        return;
    const struct iolens_transport *transport = transport_open();
    if (!transport)
        return;
    iolens_parallel_start(transport);
    started = true;
}

static void finish(void)
{
    if (!started)
        return;
    mpi_depth++;
    iolens_parallel_finish();
    transport_close();
    mpi_depth--;
    started = false;
}

/* What the library does inside MPI_Init is not the program's I/O and not recorded. A nested call, of a
 * language binding or another tool, must not start the job a second time. */
static void enter(void)
{
    if (mpi_depth++ == 0 && attached)
        iolens_pause(true);
}

static void leave(int code)
{
    if (--mpi_depth > 0)
        return;
    if (attached)
        iolens_pause(false);
    if (code == MPI_SUCCESS)
        start();
}

#define INIT(symbol, params, args)                                                                           \
    IOLENS_EXPORT int symbol params                                                                          \
    {                                                                                                        \
        enter();                                                                                             \
        int code = CALL_REAL(#symbol, symbol, args);                                                         \
        leave(code);                                                                                         \
        return code;                                                                                         \
    }

INIT(MPI_Init, (int *argc, char ***argv), (argc, argv))
INIT(PMPI_Init, (int *argc, char ***argv), (argc, argv))
INIT(MPI_Init_thread, (int *argc, char ***argv, int required, int *provided),
     (argc, argv, required, provided))
INIT(PMPI_Init_thread, (int *argc, char ***argv, int required, int *provided),
     (argc, argv, required, provided))

IOLENS_EXPORT int MPI_Finalize(void)
{
    finish();
    return CALL_REAL("MPI_Finalize", MPI_Finalize, ());
}

IOLENS_EXPORT int PMPI_Finalize(void)
{
    finish();
    return CALL_REAL("PMPI_Finalize", PMPI_Finalize, ());
}
