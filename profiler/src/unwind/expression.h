/* Evaluates DWARF expressions as unwind tables use them (DWARF 5, section 2.5). */
#ifndef IOLENS_UNWIND_EXPRESSION_H
#define IOLENS_UNWIND_EXPRESSION_H

#include "cfi.h"

/* Evaluates the rule's expression. If `first` is not NULL, the stack of the evaluation begins with that
 * value. Returns false if the expression has an unknown form or needs an unknown value. */
bool expression_value(const struct rule *rule, const struct registers *registers,
                      const struct stack_span *stack, const uintptr_t *first, uintptr_t *value);

#endif
