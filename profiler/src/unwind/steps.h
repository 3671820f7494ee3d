/* From a frame to its caller's, remembered by the instruction: nearly every function saves its caller's
 * registers at fixed distances, and reading the tables anew takes microseconds. Each thread has a memory of
 * its own. Not from a signal handler. */
#ifndef IOLENS_UNWIND_STEPS_H
#define IOLENS_UNWIND_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "objects.h"
#include "registers.h"

enum step_result {
    STEP_UNUSUAL, /* the rules have another form, or need a register that is not known: nothing changed */
    STEP_TAKEN,
    STEP_OUTERMOST /* there is no caller */
};

/* A step outwards from an instruction of the object. */
enum step_result step_out(const struct unwind_object *object, uintptr_t address, struct registers *registers,
                          const struct stack_span *stack);

#endif
