/* The checksum of a zlib stream (RFC 1950, 8.2). */
#ifndef IOLENS_ADLER_H
#define IOLENS_ADLER_H

#include <stddef.h>
#include <stdint.h>

/* Of the bytes before, whose checksum is `checksum` (1 when there are none), and `count` more. */
uint32_t adler(uint32_t checksum, const unsigned char *bytes, size_t count);

#endif
