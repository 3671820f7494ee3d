/* isfinite and isnan for programs compiled with -Ofast or -ffast-math, which assume that NaN and infinity do
 * not occur; here NAN is an unknown value. */
#ifndef COMMON_FINITE_H
#define COMMON_FINITE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t magnitude_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits & INT64_MAX;
}

static const uint64_t INFINITE_BITS = UINT64_C(0x7ff) << 52;

static inline bool is_finite(double value) { return magnitude_bits(value) < INFINITE_BITS; }

static inline bool is_nan(double value) { return magnitude_bits(value) > INFINITE_BITS; }

#endif
