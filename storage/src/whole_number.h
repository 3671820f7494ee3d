/* A number of the command line. */
#ifndef WHOLE_NUMBER_H
#define WHOLE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* The number that all of `text` is, from `least` to `most`; false if it is none. */
bool whole_number(const char *text, int64_t least, int64_t most, int64_t *number);

#endif
