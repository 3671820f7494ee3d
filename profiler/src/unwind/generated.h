/* Out of code that the program generated while it ran: it lies in no object and has no unwind tables. */
#ifndef IOLENS_UNWIND_GENERATED_H
#define IOLENS_UNWIND_GENERATED_H

#include <stdbool.h>

#include "registers.h"

/* From a function that called another and returns right behind that: `add $N,%rsp; ret`. CPython's perf
 * trampoline for x86-64 has this form, one for each Python function. False, and nothing changed, where the
 * instructions behind the call are others, or what they would return to lies in no object. */
bool generated_step(struct registers *registers, const struct stack_span *stack);

#endif
