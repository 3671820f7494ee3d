/* The wrapped functions whose calls are counted: the rows of mpi_calls.def, expanded. */
#include <math.h>

#include "links.h"
#include "traced.h"
#include "wrap.h"
#include "traced_kinds.h"

/* Sets only the fields that may be read before they are set elsewhere. */
static inline void begin(struct traced *c, enum iolens_mpi_function function)
{
    c->function = function;
    c->known = c->linked = c->allocated = c->allocated_statuses = false;
    c->number = c->transfers = c->others = 0;
}

/* The symbol's name is given by an assembler label, because mpi.h declares the function with the handle types
 * of one library. */
#define SHAPE(gate, symbol, wide, function, params, args, before, event, failure)                            \
    IOLENS_EXPORT int wide params __asm__(symbol);                                                           \
    int wide params                                                                                          \
    {                                                                                                        \
        if (__builtin_expect(!(gate), 1) || !mpi_active())                                                   \
            return CALL_REAL(symbol, wide, args);                                                            \
        struct traced c;                                                                                     \
        begin(&c, IOLENS_MPI_##function);                                                                    \
        mpi_depth++;                                                                                         \
        before;                                                                                              \
        double spent = iolens_spent();                                                                       \
        c.t0 = link_start();                                                                                 \
        int code = CALL_REAL(symbol, wide, args);                                                            \
        c.t1 = iolens_now();                                                                                 \
        iolens_spend(spent, c.t1 - c.t0);                                                                    \
        if (code == MPI_SUCCESS) {                                                                           \
            event;                                                                                           \
        } else {                                                                                             \
            failure;                                                                                         \
        }                                                                                                    \
        traced_end(&c, __builtin_return_address(0));                                                         \
        mpi_depth--;                                                                                         \
        return code;                                                                                         \
    }

#define FN(gate, function, name, params, args, before, event)                                                \
    SHAPE_OF(gate, function, name, params, args, before, event, NOTHING)
#define FN_OR(gate, function, name, params, args, before, event, failure)                                    \
    SHAPE_OF(gate, function, name, params, args, before, event, failure)
#define SHAPE_OF(gate, function, name, params, args, before, event, failure)                                 \
    SHAPE(gate, "MPI_" #name, wide_##name, function, params, args, before, event, failure)                   \
    SHAPE(gate, "PMPI_" #name, wide_P##name, function, params, args, before, event, failure)
#include "../mpi_calls.def"
