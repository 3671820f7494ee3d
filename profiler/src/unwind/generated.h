/* Steps out of code that the program generated at run time, which lies in no object and has no unwind
 * tables. */
#ifndef IOLENS_UNWIND_GENERATED_H
#define IOLENS_UNWIND_GENERATED_H

#include <stdbool.h>

#include "registers.h"

/* Steps out of a function that made a call, and whose code behind the call is `add $N,%rsp; ret`. CPython's
 * perf trampoline for x86-64 has this form, one for each Python function. Returns false and changes nothing
 * if the instructions behind the call differ, or if the return address lies in no object. */
bool generated_step(struct registers *registers, const struct stack_span *stack);

#endif
