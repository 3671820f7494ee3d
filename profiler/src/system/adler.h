/* The checksum of a zlib stream (RFC 1950, 8.2). */
#ifndef IOLENS_ADLER_H
#define IOLENS_ADLER_H

#include <stddef.h>
#include <stdint.h>

/* Returns the checksum of `count` bytes that follow bytes with the checksum `checksum` (1 if there are
 * none). */
uint32_t adler(uint32_t checksum, const unsigned char *bytes, size_t count);

#endif
