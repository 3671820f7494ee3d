/* The numbers of Darshan's job region: who, when, how many ranks. */
#ifndef IOLENS_JOBINFO_H
#define IOLENS_JOBINFO_H

#include <stdint.h>

#include "logfile.h"

/* start_ns, end_ns: nanoseconds since 1970. */
void jobinfo_job(struct log_job *job, int ranks, int64_t start_ns, int64_t end_ns);

#endif
