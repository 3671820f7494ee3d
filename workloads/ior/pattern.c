#include "pattern.h"

#include <string.h>

/* Returns a well mixed word made from a counter, by splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t mixed(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static bool is_mixed(const Settings *s) { return s->packet[0] == 'i' || s->packet[0] == 'r'; }

void pattern_fill(const Settings *settings, int writer, char *buffer, int64_t bytes)
{
    uint64_t *words = (uint64_t *)buffer;
    uint64_t seed = (uint64_t)writer << 32 | (uint32_t)settings->signature;
    for (int64_t i = 0; i < bytes / 8; i++)
        words[i] = is_mixed(settings) ? mixed(seed + (uint64_t)i) : seed + (uint64_t)i;
}

static uint64_t stamp(const Settings *settings, int writer, int64_t offset)
{
    uint64_t where =
        (uint64_t)writer << 48 ^ (uint64_t)(uint32_t)settings->signature << 16 ^ (uint64_t)offset;
    return is_mixed(settings) ? mixed(where) : where;
}

void pattern_stamp(const Settings *settings, int writer, char *buffer, int64_t bytes, int64_t offset)
{
    uint64_t *words = (uint64_t *)buffer;
    if (settings->packet[0] == 't')
        return;
    for (int64_t at = 0; at < bytes; at += STAMP_EVERY)
        words[at / 8] = stamp(settings, writer, offset + at);
}

int64_t pattern_errors(const Settings *settings, int writer, char *expected, const char *found, int64_t bytes,
                       int64_t offset, int64_t *first)
{
    int64_t wrong = 0;
    pattern_stamp(settings, writer, expected, bytes, offset);
    if (memcmp(expected, found, (size_t)bytes) == 0)
        return 0;
    for (int64_t at = 0; at < bytes; at += 8)
        if (memcmp(expected + at, found + at, 8) != 0 && wrong++ == 0)
            *first = offset + at;
    return wrong;
}
