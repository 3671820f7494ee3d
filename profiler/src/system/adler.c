#include "adler.h"

#include <endian.h>

/* PRIME: the largest prime below 2^16. MOST_STEPS: number of steps of STEP bytes after which the sums still
 * fit into 32 bits. */
enum { PRIME = 65521, STEP = 32, MOST_STEPS = 5552 / STEP };

/* EVERY_SECOND selects every second byte of a word, each widened to 16 bits. A multiplication by one of the
 * other constants adds these four, with weights, in its highest 16 bits. */
#define EVERY_SECOND UINT64_C(0x00ff00ff00ff00ff)
#define ONCE         UINT64_C(0x0001000100010001)
#define BY_8642      UINT64_C(0x0008000600040002)
#define BY_7531      UINT64_C(0x0007000500030001)

static uint32_t sum_of(uint64_t four, uint64_t factors) { return (uint32_t)(four * factors >> 48); }

/* Adds `steps` steps of STEP bytes to the two sums of a checksum, and returns the place behind these bytes.
 * `low` is the sum of all bytes, `high` the sum of the values that `low` had after each byte. A step adds
 * words of eight bytes: the bytes of a word count 8 to 1 times, and 8 times more for each word after it. */
static const unsigned char *add_steps(const unsigned char *at, size_t steps, uint32_t *low, uint32_t *high)
{
    for (; steps > 0; steps--, at += STEP) {
        uint64_t even = 0, odd = 0, before = 0;
        for (int i = 0; i < STEP; i += 8) {
            uint64_t word;
            /* Uses the builtin, because the library is compiled without builtins and memcpy would be a
             * call. */
            __builtin_memcpy(&word, at + i, sizeof word);
            word = le64toh(word);
            before += even + odd;
            even += word & EVERY_SECOND;
            odd += word >> 8 & EVERY_SECOND;
        }
        *high += STEP * *low + 8 * sum_of(before, ONCE) + sum_of(even, BY_8642) + sum_of(odd, BY_7531);
        *low += sum_of(even + odd, ONCE);
    }
    *low %= PRIME;
    *high %= PRIME;
    return at;
}

uint32_t adler(uint32_t checksum, const unsigned char *bytes, size_t count)
{
    uint32_t low = checksum & 0xffff, high = checksum >> 16;
    for (size_t steps = count / STEP; steps > 0;) {
        size_t now = steps < MOST_STEPS ? steps : MOST_STEPS;
        bytes = add_steps(bytes, now, &low, &high);
        steps -= now;
    }
    for (size_t i = 0; i < count % STEP; i++) {
        low += bytes[i];
        high += low;
    }
    return (high % PRIME) << 16 | low % PRIME;
}
