#include "adler.h"

/* The largest prime below 2^16; so many steps of STEP bytes fit 32 bits without a remainder taken. */
enum { PRIME = 65521, STEP = 32, MOST_STEPS = 5552 / STEP };

/* `low` is the sum of all bytes, `high` the sum of what `low` was behind each: STEP bytes at once, so that
 * the compiler can add them side by side. */
static const unsigned char *add_steps(const unsigned char *at, size_t steps, uint32_t *low, uint32_t *high)
{
    for (; steps > 0; steps--, at += STEP) {
        uint32_t sum = 0, weighted = 0;
        for (uint32_t i = 0; i < STEP; i++) {
            sum += at[i];
            weighted += at[i] * (STEP - i);
        }
        *high += STEP * *low + weighted;
        *low += sum;
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
