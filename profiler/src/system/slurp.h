/* Reading a small file of the system in one go. */
#ifndef IOLENS_SLURP_H
#define IOLENS_SLURP_H

#include <stddef.h>

/* The file's first size - 1 bytes into `text`, NUL-terminated. Returns how many; 0 when it cannot be read. */
size_t slurp(const char *path, char *text, size_t size);

#endif
