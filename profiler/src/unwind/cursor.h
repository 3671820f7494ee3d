/* Reads DWARF's numbers, never beyond an end. */
#ifndef IOLENS_UNWIND_CURSOR_H
#define IOLENS_UNWIND_CURSOR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct cursor {
    const uint8_t *at, *end;
    bool bad; /* True if the data ended too early or had an unknown form. */
};

/* Reads a little-endian number of `bytes` (at most 8), with a sign in the highest bit if `is_signed`. */
static inline uint64_t cursor_number(struct cursor *cursor, unsigned bytes, bool is_signed)
{
    uint64_t value = 0;
    if (cursor->bad || (uint64_t)(cursor->end - cursor->at) < bytes) {
        cursor->bad = true;
        return 0;
    }
    memcpy(&value, cursor->at, bytes);
    cursor->at += bytes;
    unsigned unused = 64 - 8 * bytes;
    return is_signed && unused ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
}

static inline uint8_t cursor_byte(struct cursor *cursor) { return (uint8_t)cursor_number(cursor, 1, false); }

static inline uint64_t cursor_leb(struct cursor *cursor, bool is_signed)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = cursor_byte(cursor);
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte & 0x80)
            continue;
        bool negative = is_signed && (byte & 0x40) && shift + 7 < 64;
        return negative ? value | UINT64_MAX << (shift + 7) : value;
    }
    cursor->bad = true;
    return 0;
}

static inline uint64_t cursor_uleb(struct cursor *cursor) { return cursor_leb(cursor, false); }
static inline int64_t cursor_sleb(struct cursor *cursor) { return (int64_t)cursor_leb(cursor, true); }

/* Returns a cursor over the next `bytes` bytes, and moves `cursor` behind them. */
static inline struct cursor cursor_block(struct cursor *cursor, uint64_t bytes)
{
    struct cursor block = {cursor->at, cursor->at, true};
    if (cursor->bad || (uint64_t)(cursor->end - cursor->at) < bytes) {
        cursor->bad = true;
        return block;
    }
    cursor->at += bytes;
    return (struct cursor){block.at, cursor->at, false};
}

#endif
