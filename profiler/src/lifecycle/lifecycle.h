/* An end of recording before the end of the process. */
#ifndef IOLENS_LIFECYCLE_H
#define IOLENS_LIFECYCLE_H

/* Write the log of a process that is not in an MPI job now, and record nothing any more; `why`, a sentence,
 * goes into the log. Nothing when it does not record. */
void lifecycle_end(const char *why);

#endif
