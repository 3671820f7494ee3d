/* A list of ranks as Darshan writes it: "0:3,8,12:" is 0 to 3, 8, and all from 12 on. */
#ifndef IOLENS_RANKS_H
#define IOLENS_RANKS_H

#include <stdbool.h>
#include <stdint.h>

/* Returns true if `list` is a valid list of ranks; an empty text is one. */
bool ranks_valid(const char *list);

bool ranks_contain(const char *list, int64_t rank);

#endif
