/* Call frame information: the rules that give the registers of the caller from those of a frame, in the
 * tables of .eh_frame (DWARF 5, section 6.4; LSB 5, section 10.6). */
#ifndef IOLENS_UNWIND_CFI_H
#define IOLENS_UNWIND_CFI_H

#include <string.h>

#include "mapped_objects.h"
#include "registers.h"

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

enum rule_kind {
    RULE_SAME,         /* The register's value is the same in the caller. */
    RULE_UNDEFINED,    /* The caller's value is unknown; for the return address this means that there is no
                        * caller. */
    RULE_OFFSET,       /* The caller's value is saved in memory at the frame's address + `value`. */
    RULE_VALUE_OFFSET, /* The caller's value is the frame's address + `value`. */
    RULE_REGISTER,     /* The caller's value is that of register `from` + `value`. */
    RULE_EXPRESSION,   /* The caller's value is saved in memory at the address that the expression gives. */
    RULE_VALUE_EXPRESSION, /* The caller's value is the result of the expression. */
};

struct rule {
    uint8_t kind, from;
    int32_t value;
    const uint8_t *expression; /* The expression in DWARF, from behind its length on. */
};

struct cfi_row {
    struct rule frame; /* Gives the frame's address (CFA): RULE_REGISTER or RULE_VALUE_EXPRESSION. */
    struct rule saved[REGISTER_COUNT];
    /* True for a frame that the kernel made for a signal: the function below it was interrupted and made no
     * call. */
    bool signal_frame;
};

/* Finds the rules for an instruction; returns false if the object has none, or if they have an unknown
 * form. */
bool cfi_row_at(const struct unwind_object *object, uintptr_t address, struct cfi_row *row);

/* Steps from a frame to its caller with rules that are remembered by instruction: nearly every function
 * saves its caller's registers at fixed distances, and reading the tables again takes microseconds. */

/* The rules that a thread remembers. Signal handlers have a separate memory, because they may interrupt the
 * thread while it uses its own. */
struct steps;

/* Returns the rules of the calling thread; NULL without memory. Must not be called from a signal handler. */
struct steps *steps_of_calls(void);

/* The first function makes the memory that signal handlers in this thread use; the second returns it, or NULL
 * if it was not made. */
void steps_prepare(void);
struct steps *steps_of_handlers(void);

enum step_result {
    /* The rules have a form that cannot be remembered, or need an unknown register; nothing was changed. */
    STEP_UNUSUAL,
    STEP_TAKEN,
    STEP_OUTERMOST /* There is no caller. */
};

/* Steps from an instruction of the object to its caller. */
enum step_result step_out(struct steps *steps, const struct unwind_object *object, uintptr_t address,
                          struct registers *registers, const struct stack_span *stack);

#endif
