/* Damages a spool in memory, at random from a number: the same number does the same damage. */
#ifndef IOLENS_FUZZ_DAMAGE_H
#define IOLENS_FUZZ_DAMAGE_H

#include <stddef.h>
#include <stdint.h>

/* An undamaged spool, and the places of its 64-bit words that are not 0. */
struct seed {
    const char *path; /* Path of the spool that was read as the seed. */
    unsigned char *bytes;
    size_t size;
    size_t *used;
    size_t used_count;
};

/* Damages `work`, a copy of the seed, in one to six places. Returns the new size, which is smaller than the
 * seed's if the end was cut off. */
size_t damage(unsigned char *work, const struct seed *seed, uint64_t number);

#endif
