/* Northwestern's inputbt.data: w or r; method 0..3; number of dumps; nx ny nz; directory. What follows the
 * values on a line is ignored. */
#ifndef BTIO_PATTERN_INPUT_H
#define BTIO_PATTERN_INPUT_H

#include "fail.h"

enum { DIRECTORY_LONGEST = 512 };

/* Values that rank 0 read, in the form of a broadcast. */
typedef struct PatternInput {
    char operation; /* The operation: w (write) or r (read). */
    char method[16];
    int dumps, grid[3];
    char directory[DIRECTORY_LONGEST + 1];
} PatternInput;

/* Returns true if the file at `path` exists and begins with w or r. */
bool pattern_input_like(const char *path);

/* Reads the file. Called by one rank. */
PatternInput pattern_input_read(const char *path, Trouble *trouble);

#endif
