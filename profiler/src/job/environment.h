/* The environment variables that a log keeps: those that decide how files are accessed and that tell where
 * the job ran. */
#ifndef IOLENS_ENVIRONMENT_H
#define IOLENS_ENVIRONMENT_H

#include "../memory/buffer.h"

/* Writes the chosen variables of this process as a JSON object of at most `limit` bytes; variables that do
 * not fit are left out. */
void environment_json(struct buffer *out, size_t limit);

#endif
