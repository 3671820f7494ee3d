/* Steps from a frame to its caller with rules that are remembered by instruction: nearly every function
 * saves its caller's registers at fixed distances, and reading the tables again takes microseconds. */
#ifndef IOLENS_UNWIND_STEPS_H
#define IOLENS_UNWIND_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "mapped_objects.h"
#include "registers.h"

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
