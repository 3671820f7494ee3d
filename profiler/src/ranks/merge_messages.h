/* Bytes that ranks merge, in any number: by messages along a tree. */
#ifndef IOLENS_MERGE_MESSAGES_H
#define IOLENS_MERGE_MESSAGES_H

#include "../adapter.h"
#include "../memory/buffer.h"

/* Add what `higher` ranks have to what lower ones do. Returns 0, or -1. */
typedef int merge_add_fn(struct buffer *lower, const struct buffer *higher, const void *context);

/* Collective, where ranks can send, behind a step that all of them took (in_step.h): those of rank 0 become
 * those of all. A rank whose `bytes` have failed hands on nothing. Returns 0, or -1, which other ranks learn
 * of on the way to rank 0 alone. */
int merge_by_messages(const struct iolens_transport *transport, struct buffer *bytes, merge_add_fn *add,
                      const void *context);

#endif
