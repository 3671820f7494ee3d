/* The result JSON of a test (RESULT.md). */
#ifndef IOR_RECORD_H
#define IOR_RECORD_H

#include "test.h"

/* Writes the result JSON. Called by rank 0 alone. */
void record_write(const Test *test, const char *path, Trouble *trouble);

#endif
