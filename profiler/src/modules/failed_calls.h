/* Failed calls on files, by operation and error. */
#ifndef IOLENS_FAILED_CALLS_H
#define IOLENS_FAILED_CALLS_H

#include "../runtime/wrap.h"

enum failed_operation {
#define FAILED(name, meaning) FAILED_##name,
#include "failed_calls.def"
#undef FAILED
    FAILED_OPERATIONS
};

/* Counts a call that failed with this errno. */
void failed_calls_add(const struct call *c, enum failed_operation operation, int error);

#endif
