/* Call frame information: by which rules the registers of the caller follow from those of a frame, from the
 * tables in .eh_frame (DWARF 5, section 6.4; LSB 5, section 10.6). */
#ifndef IOLENS_UNWIND_CFI_H
#define IOLENS_UNWIND_CFI_H

#include <stdbool.h>
#include <stdint.h>

#include "cursor.h"
#include "objects.h"
#include "registers.h"

enum rule_kind {
    RULE_SAME,             /* the caller's is the callee's */
    RULE_UNDEFINED,        /* not known; of the return address: there is no caller */
    RULE_OFFSET,           /* saved at the frame's address + value */
    RULE_VALUE_OFFSET,     /* is the frame's address + value */
    RULE_REGISTER,         /* is that of register `from` + value */
    RULE_EXPRESSION,       /* saved at the expression's address */
    RULE_VALUE_EXPRESSION, /* is the expression's value */
};

struct rule {
    uint8_t kind, from;
    int32_t value;
    const uint8_t *expression; /* behind its length */
};

struct cfi_row {
    struct rule frame; /* the frame's address (CFA): RULE_REGISTER or RULE_VALUE_EXPRESSION */
    struct rule saved[REGISTER_COUNT];
    bool signal_frame; /* the kernel made this frame: its caller was interrupted and did not call */
};

/* The rules at an instruction; false when the object has none for it, or of an unknown form. */
bool cfi_row_at(const struct unwind_object *object, uintptr_t address, struct cfi_row *row);

#endif
