/* Ends recording before the process ends. */
#ifndef IOLENS_LIFECYCLE_H
#define IOLENS_LIFECYCLE_H

#include "../adapter.h"
#include "../memory/area.h"
#include "../spool/spool.h"
#include "../system/path.h"

/* Writes the log of a process outside an MPI job at once and stops recording. The sentence `why` goes into
 * the log. Does nothing if the process does not record. */
void lifecycle_end(const char *why);

/* A program may give up rights that recording needs. Afterwards reading the time stamp counter raises
 * SIGSEGV, or a forbidden system call kills the process. The recorder sees this before it happens, but only
 * in calls through the C library. A filter that existed before the program began (a container's) does not
 * matter here. */

/* Must be called before the program's prctl with these arguments, which may forbid system calls or reading
 * the time stamp counter; prepares for that. */
void confined_prctl(long option, long first, long second);

/* Must be called before the program's system call seccomp with these arguments, which may forbid system
 * calls; prepares for that. */
void confined_seccomp(long operation, long filter);

/* Tells all modules and process tables that the settings have been read. */
void recording_start(void);

/* Forgets all records. Called in a child of fork (which keeps its parent's descriptors and streams), on a
 * rank that is not recorded, and before a rank's records are read from a spool. */
void recording_reset(void);

/* Returns a checksum of the memory layout of all records. Two builds have the same number only if each can
 * read the other's spools. */
uint64_t recording_layout(void);

/* Returns true if the program of a spool did something that is worth a log: it moved data in files, was a
 * rank of an MPI job, visited regions, or was sampled more than a few times. The spool must be complete, and
 * mapped at its original address. Files that were only opened do not count (a shell opens one for `command
 * >file`), nor does the script that the program was reading. */
bool replaced_is_worth_a_log(const struct spool_header *header, const struct area *area);

/* Writes the job's log after recording has stopped; collective. Returns true if the log exists under the name
 * in `log`. Prints one message if writing fails; the program continues either way. */
bool finish_log(const struct iolens_transport *transport, char log[PATH_BYTES]);

/* Reserves address space for a rank of a job with `ranks` ranks. The pages stay untouched, so they cost no
 * memory. */
void reserve_hold(int rank, int ranks);

/* Releases the reserved memory and returns false if memory does not suffice for writing this process's
 * records. Always returns true if nothing is reserved. */
bool reserve_release(void);

#endif
