/* Where a process came from: what joins the logs of a job of many processes. */
#ifndef IOLENS_ORIGIN_H
#define IOLENS_ORIGIN_H

#include <stdint.h>

enum { ANCESTORS = 8 };

/* `ancestors`: its parent, the parent of that, …, up to the first process of the node or namespace; 0 behind
 * the last one. */
struct origin {
    int64_t pid, ancestors[ANCESTORS];
};

/* At the begin of the process: its parent may be gone at its end. */
void origin_begin(struct origin *origin);

/* The other ancestors that are still there, from /proc. */
void origin_follow(struct origin *origin);

#endif
