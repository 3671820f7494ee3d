/* The ancestors of a process, by which the logs of a job's many processes are joined. */
#ifndef IOLENS_ORIGIN_H
#define IOLENS_ORIGIN_H

#include <stdbool.h>
#include <stdint.h>

enum { ANCESTORS = 8 };

/* `ancestors`: the number of the parent process, that of its parent, and so on up to the first process of the
 * node or namespace; 0 behind the last one. */
struct origin {
    int64_t pid, ancestors[ANCESTORS];
};

/* Reads the parent at the beginning of the process, because it may have ended later. */
void origin_begin(struct origin *origin);

/* Returns the parent of a process, or 0 if it is gone or hidden. */
int64_t origin_parent(int64_t pid);

/* Reads the other ancestors that still exist from /proc. */
void origin_follow(struct origin *origin);

/* Returns false if the launcher also started a process of this job, directly or through up to three shells,
 * that has loaded an MPI library but no adapter of this library. Returns true also if that cannot be found
 * out: /proc is hidden, the process is on another node, or MPI is linked statically. */
bool neighbours_are_recorded(void);

#endif
