/* Requests of a ring between submission and completion. */
#ifndef IOLENS_RING_REQUESTS_H
#define IOLENS_RING_REQUESTS_H

#include "ring.h"

/* Adds a request, which is found later by its key, the program's user_data. The caller holds the ring's
 * lock. */
void ring_requests_add(struct ring *ring, struct ring_request *request);

/* Removes and returns the oldest request with this key, or the newest if `newest`; NULL if there is none.
 * Sets `several` if one of the next requests with this key is for another file. The caller holds the ring's
 * lock. */
struct ring_request *ring_requests_take(struct ring *ring, uint64_t key, bool newest, bool *several);

/* Reads the arguments of a request before it is submitted, because the program may change its memory
 * afterwards. */
void ring_request_begin(struct ring *ring, struct ring_request *request);

/* Records a request that was seen completed at `now`, in seconds by iolens.clock. */
void ring_request_end(struct ring *ring, struct ring_request *request, double now);

/* Undoes ring_request_begin for a request that the kernel did not take. */
void ring_request_undo(struct ring_request *request);

/* Counts a request whose completion was not seen. */
void ring_request_abandon(struct ring_request *request);

#endif
