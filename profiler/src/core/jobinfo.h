/* What the job region says: who, when, which command, which file systems. */
#ifndef IOLENS_JOBINFO_H
#define IOLENS_JOBINFO_H

#include <stddef.h>
#include <stdint.h>

#include "logfile.h"

/* start_ns, end_ns: nanoseconds since 1970. */
void jobinfo_job(struct log_job *job, int ranks, int64_t start_ns, int64_t end_ns);

/* From the text of /proc/self/mounts: the command line, then "\n" type "\t" mount point for each file system.
 * Returns its bytes with the final NUL. */
size_t jobinfo_text(char text[LOG_TEXT_BYTES], const char *mounts);

#endif
