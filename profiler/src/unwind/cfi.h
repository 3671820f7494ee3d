/* Call frame information: the rules that give the registers of the caller from those of a frame, in the
 * tables of .eh_frame (DWARF 5, section 6.4; LSB 5, section 10.6). */
#ifndef IOLENS_UNWIND_CFI_H
#define IOLENS_UNWIND_CFI_H

#include <stdbool.h>
#include <stdint.h>

#include "cursor.h"
#include "mapped_objects.h"
#include "registers.h"

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

#endif
