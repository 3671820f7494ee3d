/* The shape of an MPI wrapper, written once. One guard per thread covers the real call, so that a call which
 * the library or a language binding makes on behalf of another one is counted once. */
#ifndef IOLENS_MPI_WRAP_H
#define IOLENS_MPI_WRAP_H

#include <stdbool.h>
#include <stdint.h>

#include "handles.h"

#define IOLENS_EXPORT __attribute__((visibility("default")))

extern __thread int mpi_depth;

/* A handle as a program passes it: an int in one MPI library, a pointer in another. Wrappers hand on the
 * whole register, so that a program of another library than this adapter's runs on unharmed; the handle takes
 * its own type only where something is recorded. */
typedef intptr_t handle;

/* True when this call is to be recorded. */
bool mpi_active(void);

/* Call the library's own definition of `symbol`, a function of the same type as `like`; found when first
 * needed, by several threads at once maybe. */
#define CALL_REAL(symbol, like, args)                                                                        \
    ({                                                                                                       \
        static __typeof__(&like) cached;                                                                     \
        __typeof__(&like) real = __atomic_load_n(&cached, __ATOMIC_RELAXED);                                 \
        if (!real) {                                                                                         \
            real = (__typeof__(&like))mpi_symbol(symbol);                                                    \
            __atomic_store_n(&cached, real, __ATOMIC_RELAXED);                                               \
        }                                                                                                    \
        real ? real args : MPI_ERR_OTHER;                                                                    \
    })

#endif
