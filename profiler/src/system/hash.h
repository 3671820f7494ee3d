/* Record ids: Bob Jenkins' 64-bit hash "lookup8" (1997, public domain, burtleburtle.net/bob/hash) with level
 * 0 of the path's bytes without the final NUL. Every Darshan tool joins modules and names through these ids.
 */
#ifndef IOLENS_HASH_H
#define IOLENS_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t record_id(const char *name, size_t bytes);

#endif
