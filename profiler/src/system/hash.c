#include "hash.h"

struct lanes {
    uint64_t a, b, c;
};

/* The published shift amounts; even entries shift right, odd ones left. */
static void mix(struct lanes *s)
{
    static const unsigned char shift[4][3] = {{43, 9, 8}, {38, 23, 5}, {35, 49, 11}, {12, 18, 22}};
    for (int round = 0; round < 4; round++) {
        s->a = (s->a - s->b - s->c) ^ (s->c >> shift[round][0]);
        s->b = (s->b - s->c - s->a) ^ (s->a << shift[round][1]);
        s->c = (s->c - s->a - s->b) ^ (s->b >> shift[round][2]);
    }
}

static uint64_t little_endian(const unsigned char *bytes, size_t count)
{
    uint64_t word = 0;
    for (size_t i = 0; i < count; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

static size_t at_most(size_t value, size_t limit) { return value < limit ? value : limit; }

uint64_t record_id(const char *name, size_t bytes)
{
    const unsigned char *key = (const unsigned char *)name;
    struct lanes s = {0, 0, 0x9e3779b97f4a7c13u};
    size_t left = bytes;
    for (; left >= 24; key += 24, left -= 24) {
        s.a += little_endian(key, 8);
        s.b += little_endian(key + 8, 8);
        s.c += little_endian(key + 16, 8);
        mix(&s);
    }
    /* The last block: the lowest byte of c holds the length, so only seven of its bytes come from the key. */
    s.a += little_endian(key, at_most(left, 8));
    s.b += left > 8 ? little_endian(key + 8, at_most(left - 8, 8)) : 0;
    s.c += bytes + (left > 16 ? little_endian(key + 16, left - 16) << 8 : 0);
    mix(&s);
    return s.c;
}
