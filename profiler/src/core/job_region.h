/* The private region job: one JSON object about the run, from rank 0. */
#ifndef IOLENS_JOB_REGION_H
#define IOLENS_JOB_REGION_H

#include <stdint.h>

#include "../adapter.h"
#include "buffer.h"

/* Collective (it gathers host names). */
void job_region_write(const struct iolens_transport *transport, struct buffer *out);

/* The chosen variables of this process as a JSON object of at most `limit` bytes; what does not fit is left
 * out. */
void job_region_environment(struct buffer *out, size_t limit);

#endif
