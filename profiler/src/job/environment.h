/* The environment variables that a log keeps: what decides how files are reached, and where the job ran. */
#ifndef IOLENS_ENVIRONMENT_H
#define IOLENS_ENVIRONMENT_H

#include "../memory/buffer.h"

/* The chosen variables of this process as a JSON object of at most `limit` bytes; what does not fit is left
 * out. */
void environment_json(struct buffer *out, size_t limit);

#endif
