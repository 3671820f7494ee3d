/* Where samples are kept. */
#ifndef IOLENS_SAMPLING_STORE_H
#define IOLENS_SAMPLING_STORE_H

#include <stddef.h>
#include <ucontext.h>

#include "state.h"

/* Count an interruption of the thread, which stands for `weight` periods of its timer. In the handler. */
void sample_take(struct sampling *sampling, struct sampled_thread *thread, const ucontext_t *context,
                 int64_t weight);

#endif
