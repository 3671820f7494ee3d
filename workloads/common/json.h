/* Writes one JSON value to a stream, on one line. Keys are NULL inside arrays and for the outermost value. */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct Json {
    FILE *out;
    bool begun; /* True if the innermost open bracket already contains a value. */
} Json;

void json_open(Json *json, const char *key, char bracket);      /* `bracket` is '{' or '['. */
void json_close(Json *json, char bracket);                      /* `bracket` is '}' or ']'. */
void json_text(Json *json, const char *key, const char *value); /* Writes null for NULL. */
void json_integer(Json *json, const char *key, long long value);
void json_real(Json *json, const char *key, double value); /* Writes null for a value that is not finite. */
void json_truth(Json *json, const char *key, bool value);
void json_null(Json *json, const char *key);

/* isfinite and isnan for programs compiled with -Ofast or -ffast-math, which assume that NaN and infinity do
 * not occur; here NAN is an unknown value. */

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
