/* Parses a number of the command line. */
#ifndef WHOLE_NUMBER_H
#define WHOLE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Parses all of `text` as a number from `least` to `most`; returns false if it is not one. */
bool whole_number(const char *text, int64_t least, int64_t most, int64_t *number);

#endif
