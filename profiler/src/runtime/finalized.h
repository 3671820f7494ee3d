/* A rank whose job has its log, while the process goes on. */
#ifndef IOLENS_FINALIZED_H
#define IOLENS_FINALIZED_H

#include <stdint.h>

/* The rank's place in the job. 0 ranks: there is no such job, or its log is not written yet. */
struct finalized {
    int32_t rank, ranks;
};

#endif
