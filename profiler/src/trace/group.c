/* One group of functions, named by TRACE_LIST. */
#include "forward.h"

#include <errno.h>

#define TRACED(result, name) FORWARD(result, name, 0)

/* Also as in the builds of OpenBLAS that NumPy and SciPy bring along, and with integers of 64 bits. */
#define RENAMED(result, name)                                                                                \
    TRACED(result, name)                                                                                     \
    TRACED(result, scipy_##name)                                                                             \
    TRACED(result, name##64_)                                                                                \
    TRACED(result, scipy_##name##64_)

#include TRACE_LIST

/* A library's function that the program calls is there, or the program would not have been loaded. */
intptr_t trace_missing(const struct traced_function *function)
{
    (void)function;
    errno = ENOSYS;
    return -1;
}
