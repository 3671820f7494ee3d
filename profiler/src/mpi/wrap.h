/* The shape of an MPI wrapper, written once. One guard per thread covers the real call, so that a call which
 * the library or a language binding makes inside another call is not counted twice. */
#ifndef IOLENS_MPI_WRAP_H
#define IOLENS_MPI_WRAP_H

#include <stdint.h>

#include "handles.h"

#define IOLENS_EXPORT __attribute__((visibility("default")))

extern __thread int mpi_depth;

/* An MPI handle as a program passes it: an int or a pointer, depending on the MPI library. Wrappers pass on
 * the whole register, so that programs of another MPI library still work; the handle gets its real type only
 * if the call is recorded. */
typedef intptr_t handle;

/* Returns true if this call is to be recorded. */
bool mpi_active(void);

/* Calls the library's definition of `symbol`, which has the type of `like`. The definition is looked up at
 * the first call, and several threads may do so at once. */
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
