#include <stdio.h>

#include "../runtime/context.h"
#include "writer.h"

/* A longer name of a run is cut, because the lines after it need the room. */
enum { NANO = 1000000000, RUN_BYTES = 256 };

void jobinfo_job(struct log_job *job, int ranks, int64_t start_ns, int64_t end_ns)
{
    *job = (struct log_job){.uid = iolens.identity.uid,
                            .start_sec = start_ns / NANO,
                            .start_nsec = start_ns % NANO,
                            .end_sec = end_ns / NANO,
                            .end_nsec = end_ns % NANO,
                            .ranks = ranks,
                            .jobid = iolens.jobid};
    int used = snprintf(job->metadata, sizeof job->metadata, "lib_ver=iolens-%s\n", IOLENS_VERSION);
    if (*iolens.settings.run)
        used += snprintf(job->metadata + used, sizeof job->metadata - (size_t)used, "run=%.*s\n", RUN_BYTES,
                         iolens.settings.run);
    if (iolens.fork_parent)
        used += snprintf(job->metadata + used, sizeof job->metadata - (size_t)used, "fork_parent=%d\n",
                         (int)iolens.fork_parent);
    if (iolens.lost)
        snprintf(job->metadata + used, sizeof job->metadata - (size_t)used, "partial=%.512s\n", iolens.lost);
}
