/* Where samples are kept. */
#ifndef IOLENS_SAMPLING_STORE_H
#define IOLENS_SAMPLING_STORE_H

#include <stddef.h>
#include <ucontext.h>

#include "state.h"

/* Count an interruption of the thread, which stands for `weight` periods of its timer. In the handler. */
void sample_take(struct sampling *sampling, struct sampled_thread *thread, const ucontext_t *context,
                 int64_t weight);

/* Recording has ended: count what a thread has spent so far in a wait, the periods that no sample counted
 * yet. Its stack is read from outside, and what it says is dropped when the wait ended meanwhile. */
void sample_unfinished(struct sampling *sampling, struct sampled_thread *thread);

#endif
