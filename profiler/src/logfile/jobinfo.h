/* The numbers of Darshan's job region: user, times, and the number of ranks. */
#ifndef IOLENS_JOBINFO_H
#define IOLENS_JOBINFO_H

#include <stdint.h>

#include "logfile.h"

/* Fills in the numbers; start_ns and end_ns are nanoseconds since 1970. */
void jobinfo_job(struct log_job *job, int ranks, int64_t start_ns, int64_t end_ns);

#endif
