/* The wrapped MPI-IO functions: the rows of mpiio_calls.def, expanded. */
#include "files.h"
#include "links.h"
#include "traced.h"
#include "wrap.h"
#include "mpiio_kinds.h"

/* The symbol's name is given by an assembler label, because mpi.h declares the function with the handle
 * types of one library. */
#define SHAPE(symbol, wide, params, args, before, event)                                                     \
    IOLENS_EXPORT int wide params __asm__(symbol);                                                           \
    int wide params                                                                                          \
    {                                                                                                        \
        if (!mpi_active())                                                                                   \
            return CALL_REAL(symbol, wide, args);                                                            \
        struct call c = {.name = symbol};                                                                    \
        mpi_depth++;                                                                                         \
        before;                                                                                              \
        double spent = iolens_spent();                                                                       \
        c.t0 = link_start();                                                                                 \
        int code = CALL_REAL(symbol, wide, args);                                                            \
        c.t1 = iolens_now();                                                                                 \
        iolens_spend(spent, c.t1 - c.t0);                                                                    \
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
    SHAPE("MPI_" #name, wide_##name, params, args, before, event)                                            \
    SHAPE("PMPI_" #name, wide_P##name, params, args, before, event)
#include "../mpiio_calls.def"
