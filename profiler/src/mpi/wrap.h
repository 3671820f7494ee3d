/* The shape of an MPI wrapper, written once. One guard per thread covers the real call, so that a call which
 * the library or a language binding makes on behalf of another one is counted once. */
#ifndef IOLENS_MPI_WRAP_H
#define IOLENS_MPI_WRAP_H

#include <stdbool.h>

#include "handles.h"

#define IOLENS_EXPORT __attribute__((visibility("default")))

extern __thread int mpi_depth;

/* True when this call is to be recorded. */
bool mpi_active(void);

/* Call the library's own definition of `symbol`; found when first needed. */
#define CALL_REAL(symbol, args)                                                                              \
    ({                                                                                                       \
        static __typeof__(&symbol) real;                                                                     \
        if (!real)                                                                                           \
            real = (__typeof__(&symbol))mpi_symbol(#symbol);                                                 \
        real ? real args : MPI_ERR_OTHER;                                                                    \
    })

#endif
