/* Merges any number of bytes over ranks, by messages along a tree. */
#ifndef IOLENS_MERGE_MESSAGES_H
#define IOLENS_MERGE_MESSAGES_H

#include "../adapter.h"
#include "../memory/buffer.h"

/* Type of a function that merges the bytes of `higher` ranks into those of `lower` ranks. It returns 0, or
 * -1. */
typedef int merge_add_fn(struct buffer *lower, const struct buffer *higher, const void *context);

/* Collective. Needs ranks that can send messages, and must follow a step that all ranks took (in_step.h).
 * Merges the bytes of all ranks and gives the result to all. A rank whose `bytes` have failed contributes
 * nothing. Returns 0, or -1; ranks that are not on the way to rank 0 do not learn of the failure. */
int merge_by_messages(const struct iolens_transport *transport, struct buffer *bytes, merge_add_fn *add,
                      const void *context);

#endif
