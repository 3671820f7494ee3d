#include "hash.h"

#include <endian.h>
#include <string.h>

struct lanes {
    uint64_t a, b, c;
};

/* Mixes the three numbers as the hash "lookup8" does, with its published shift amounts; even entries shift
 * right, odd ones left. */
static void mix(struct lanes *s)
{
    static const unsigned char shift[4][3] = {{43, 9, 8}, {38, 23, 5}, {35, 49, 11}, {12, 18, 22}};
#pragma GCC unroll 4
    for (int round = 0; round < 4; round++) {
        s->a = (s->a - s->b - s->c) ^ (s->c >> shift[round][0]);
        s->b = (s->b - s->c - s->a) ^ (s->a << shift[round][1]);
        s->c = (s->c - s->a - s->b) ^ (s->b >> shift[round][2]);
    }
}

static uint64_t little_endian(const unsigned char bytes[8])
{
    uint64_t word;
    /* This file is compiled without builtins, so a plain memcpy would be a function call. */
    __builtin_memcpy(&word, bytes, sizeof word);
    return le64toh(word);
}

uint64_t record_id(const char *name, size_t bytes)
{
    const unsigned char *key = (const unsigned char *)name;
    struct lanes s = {0, 0, 0x9e3779b97f4a7c13u};
    size_t left = bytes;
    for (; left >= 24; key += 24, left -= 24) {
        s.a += little_endian(key);
        s.b += little_endian(key + 8);
        s.c += little_endian(key + 16);
        mix(&s);
    }
    /* The last block: the lowest byte of c holds the length, so only seven of its bytes come from the key. */
    unsigned char last[24] = {0};
    memcpy(last, key, left);
    s.a += little_endian(last);
    s.b += little_endian(last + 8);
    s.c += bytes + (little_endian(last + 16) << 8);
    mix(&s);
    return s.c;
}
