/* The wrappers of mpiio.def. */
#include "events.h"
#include "wrap.h"

#define SHAPE(symbol, params, args, before, event)                                                           \
    IOLENS_EXPORT int symbol params                                                                          \
    {                                                                                                        \
        if (!mpi_active())                                                                                   \
            return CALL_REAL(symbol, args);                                                                  \
        struct call c = {0};                                                                                 \
        mpi_depth++;                                                                                         \
        before;                                                                                              \
        c.t0 = iolens_now();                                                                                 \
        int code = CALL_REAL(symbol, args);                                                                  \
        c.t1 = iolens_now();                                                                                 \
        if (code == MPI_SUCCESS) {                                                                           \
            event;                                                                                           \
        }                                                                                                    \
        if (c.has_made)                                                                                      \
            release(&c);                                                                                     \
        mpi_depth--;                                                                                         \
        return code;                                                                                         \
    }

#define FN(name, params, args, before, event) SHAPE_OF(name, params, args, before, event)
#define SHAPE_OF(name, params, args, before, event)                                                          \
    SHAPE(MPI_##name, params, args, before, event)                                                           \
    SHAPE(PMPI_##name, params, args, before, event)
#include "mpiio.def"
