/* DWARF expressions, as unwind tables use them (DWARF 5, section 2.5). */
#ifndef IOLENS_UNWIND_EXPRESSION_H
#define IOLENS_UNWIND_EXPRESSION_H

#include "cfi.h"

/* The value of the rule's expression, which begins with `first` on its stack where that is not NULL; false
 * when it is of an unknown form, or needs what is not known. */
bool expression_value(const struct rule *rule, const struct registers *registers,
                      const struct stack_span *stack, const uintptr_t *first, uintptr_t *value);

#endif
