/* From a frame to its caller's, remembered by the instruction: nearly every function saves its caller's
 * registers at fixed distances, and reading the tables anew takes microseconds. */
#ifndef IOLENS_UNWIND_STEPS_H
#define IOLENS_UNWIND_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "objects.h"
#include "registers.h"

/* What a thread remembers. A handler has a memory of its own, for it may interrupt the use of the other. */
struct steps;

/* Of the calling thread; NULL: there is no memory for it. Not from a signal handler. */
struct steps *steps_of_calls(void);

/* Its memory for signal handlers, which is made by `steps_prepare`; NULL: it was not. */
void steps_prepare(void);
struct steps *steps_of_handlers(void);

enum step_result {
    STEP_UNUSUAL, /* the rules have another form, or need a register that is not known: nothing changed */
    STEP_TAKEN,
    STEP_OUTERMOST /* there is no caller */
};

/* A step outwards from an instruction of the object. */
enum step_result step_out(struct steps *steps, const struct unwind_object *object, uintptr_t address,
                          struct registers *registers, const struct stack_span *stack);

#endif
