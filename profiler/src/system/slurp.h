/* Reads a small file of the system by one call. */
#ifndef IOLENS_SLURP_H
#define IOLENS_SLURP_H

#include <stddef.h>

/* Reads the first size - 1 bytes of the file into `text`, which ends with a NUL. Returns their number; 0 if
   the file cannot be read. */
size_t slurp(const char *path, char *text, size_t size);

#endif
