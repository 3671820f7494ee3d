/* The callers of an interrupted instruction, by the unwind tables of the loaded objects; where there is none,
 * by frame pointers. It takes no lock and no memory, and may be called from a signal handler. */
#ifndef IOLENS_UNWIND_H
#define IOLENS_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "registers.h"

struct unwound {
    size_t count; /* frames found */
    bool whole;   /* the outermost is the begin of the process or thread */
};

/* Once, when the library is loaded. */
void unwind_start(void);

/* Has unwind_context in this thread remember what the tables said; not from a signal handler. */
void unwind_prepare(void);

/* The stack of the calling thread; not from a signal handler. */
struct stack_span unwind_stack(void);

/* From the third argument of a signal handler, innermost first: the interrupted instruction, then return
 * addresses; at most `most`. */
struct unwound unwind_context(const ucontext_t *context, struct stack_span stack, uintptr_t *frames,
                              size_t most);

/* A walk that goes outwards frame by frame. */
struct unwinding {
    struct registers registers;
    struct stack_span stack;
    bool called, ended, whole;
};

/* From a function that is running, as unwind_callers below, and its frames one by one; false behind the last.
 * It remembers what the tables said, and is not for signal handlers. */
struct unwinding unwind_begin(uintptr_t here, uintptr_t frame, struct stack_span stack);
bool unwind_next(struct unwinding *at, uintptr_t *frame);

/* From a function that is running: `here` and `frame` are its __builtin_return_address(0) and
 * __builtin_frame_address(0), and the first of the return addresses is `here`. The function must keep a frame
 * pointer, which using the second of them has it do. */
struct unwound unwind_callers(uintptr_t here, uintptr_t frame, struct stack_span stack, uintptr_t *frames,
                              size_t most);

#endif
