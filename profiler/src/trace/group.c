/* Builds the library that traces one group of functions. The macro TRACE_LIST is the name of the file that
 * lists them. */
#include "forward.h"

#include <errno.h>

#define TRACED(result, name) FORWARD(result, name, 0)

/* Wraps the function also under the names that it has in the OpenBLAS of NumPy and SciPy, and in builds with
 * 64-bit integers. */
#define RENAMED(result, name)                                                                                \
    TRACED(result, name)                                                                                     \
    TRACED(result, scipy_##name)                                                                             \
    TRACED(result, name##64_)                                                                                \
    TRACED(result, scipy_##name##64_)

#include TRACE_LIST

/* Stands in for a library's function that was not found: fails with ENOSYS. This should never happen, because
 * the loader does not start a program that lacks a function. */
intptr_t trace_missing(const struct traced_function *function)
{
    (void)function;
    errno = ENOSYS;
    return -1;
}
