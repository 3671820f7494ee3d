#include "damage.h"

#include <string.h>

#include "../../profiler/src/spool/spool.h"

static const int64_t INTEGERS[] = {0,          1,         -1,        2,        7,         8,
                                   127,        255,       4096,      65536,    INT32_MAX, INT32_MIN,
                                   UINT32_MAX, INT64_MAX, INT64_MIN, 1LL << 40};
static const double DOUBLES[] = {
    -1.0, 0.05, 1e7, 1e9, 1e18, 1e300, -1e300, __builtin_inf(), -__builtin_inf(), __builtin_nan("")};

enum {
    MOST_STEPS = 6,
    COUNT_INTEGERS = sizeof INTEGERS / sizeof *INTEGERS,
    COUNT_DOUBLES = sizeof DOUBLES / sizeof *DOUBLES
};

struct target {
    unsigned char *bytes;
    size_t size;
    const struct seed *seed;
    uint64_t state;
};

/* Returns a random number, by splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t chance(struct target *target)
{
    uint64_t z = target->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static size_t below(struct target *target, size_t limit) { return limit ? chance(target) % limit : 0; }

/* Returns the offset of a word to damage, usually a word that is in use. */
static size_t word(struct target *target)
{
    const struct seed *seed = target->seed;
    size_t at = below(target, 4) && seed->used_count ? seed->used[below(target, seed->used_count)]
                                                     : below(target, seed->size / 8) * 8;
    return at + 8 <= target->size ? at : 0;
}

static void put(struct target *target, size_t at, const void *bytes, size_t count)
{
    memcpy(target->bytes + at, bytes, count);
}

/* Returns an address in the spool, or just outside of it. */
static uint64_t address(struct target *target)
{
    uint64_t base = ((const struct spool_header *)target->seed->bytes)->base;
    size_t place = below(target, 8);
    if (place == 0)
        return base + target->seed->size - 8 * below(target, 64);
    return place == 1 ? base - 8 : base + word(target) + (below(target, 8) ? 0 : 1);
}

static void step(struct target *target)
{
    size_t at = word(target), from = word(target);
    uint64_t pointer = address(target);
    int32_t small = (int32_t)INTEGERS[below(target, COUNT_INTEGERS)];
    switch (below(target, 10)) {
    case 0:
    case 1:
        target->bytes[at + below(target, 8)] ^= (unsigned char)(1u << below(target, 8));
        return;
    case 2:
        target->bytes[at + below(target, 8)] = (unsigned char)chance(target);
        return;
    case 3:
        put(target, at, &INTEGERS[below(target, COUNT_INTEGERS)], 8);
        return;
    case 4:
        put(target, at + 4 * below(target, 2), &small, 4);
        return;
    case 5:
        put(target, at, &DOUBLES[below(target, COUNT_DOUBLES)], 8);
        return;
    case 6:
    case 7:
        put(target, at, &pointer, 8);
        return;
    case 8: {
        size_t count = (size_t)8 << below(target, 8);
        size_t last = at > from ? at : from;
        count = last + count <= target->size ? count : 8;
        memmove(target->bytes + at, target->bytes + from, count);
        return;
    }
    default:
        memset(target->bytes + at, 0, at + 4096 <= target->size ? (size_t)8 << below(target, 10) : 8);
    }
}

/* Adjusts the checksum, as a person would who damages a spool on purpose. */
static void mend_checksum(struct target *target)
{
    struct spool_header *header = (struct spool_header *)target->bytes;
    const struct spool_header *whole = (const struct spool_header *)target->seed->bytes;
    if (memcmp(&header->identity, &whole->identity, sizeof header->identity) != 0)
        header->identity_hash = identity_hash(&header->identity);
}

size_t damage(unsigned char *work, const struct seed *seed, uint64_t number)
{
    struct target target = {work, seed->size, seed, number};
    size_t steps = below(&target, 2) ? 1 : 2 + below(&target, MOST_STEPS - 1);
    for (size_t i = 0; i < steps; i++)
        step(&target);
    if (below(&target, 2))
        mend_checksum(&target);
    if (below(&target, 20) == 0)
        return below(&target, 2) ? below(&target, seed->size) : below(&target, seed->size / 4096) * 4096;
    return seed->size;
}
