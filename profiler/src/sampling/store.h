/* Stores samples. */
#ifndef IOLENS_SAMPLING_STORE_H
#define IOLENS_SAMPLING_STORE_H

#include <stddef.h>
#include <ucontext.h>

#include "state.h"

/* Counts an interruption of the thread, which stands for `weight` periods of its timer. Called in the
 * signal handler. */
void sample_take(struct sampling *sampling, struct sampled_thread *thread, const ucontext_t *context,
                 int64_t weight);

/* Counts the periods that a thread has spent in an unfinished wait and that no sample has counted. Called
 * when recording has ended. Another thread reads the stack here, so the result is dropped if the wait ended
 * meanwhile. */
void sample_unfinished(struct sampling *sampling, struct sampled_thread *thread);

#endif
