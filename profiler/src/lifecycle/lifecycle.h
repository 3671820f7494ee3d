/* Ends recording before the process ends. */
#ifndef IOLENS_LIFECYCLE_H
#define IOLENS_LIFECYCLE_H

/* Writes the log of a process outside an MPI job at once and stops recording. The sentence `why` goes into
 * the log. Does nothing if the process does not record. */
void lifecycle_end(const char *why);

#endif
