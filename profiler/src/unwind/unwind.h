/* Finds the callers of an interrupted instruction by the unwind tables of the loaded objects, or by frame
 * pointers for code without tables. It takes no lock and no memory, and may be called from a signal
 * handler. */
#ifndef IOLENS_UNWIND_H
#define IOLENS_UNWIND_H

#include <ucontext.h>

#include "registers.h"

struct unwound {
    size_t count; /* Number of frames found. */
    bool whole;   /* True if the outermost frame is the start of the process or thread. */
};

/* Prepares unwinding; called once, when the library is loaded. */
void unwind_start(void);

/* Lets unwind_context remember rules in this thread; must not be called from a signal handler. */
void unwind_prepare(void);

/* Returns the stack of the calling thread; must not be called from a signal handler. */
struct stack_span unwind_stack(void);

/* Returns the frames of a signal handler's third argument, from the innermost outwards, at most `most`: first
 * the interrupted instruction, then return addresses. */
struct unwound unwind_context(const ucontext_t *context, struct stack_span stack, uintptr_t *frames,
                              size_t most);

/* A stack walk outwards, frame by frame. */
struct unwinding {
    struct registers registers;
    struct stack_span stack;
    bool called, ended, whole;
};

/* unwind_begin begins a walk from a running function; its arguments are those of unwind_callers below.
 * unwind_next takes the next frame, and returns false after the last one. Rules are remembered. Not for
 * signal handlers. */
struct unwinding unwind_begin(uintptr_t here, uintptr_t frame, struct stack_span stack);
bool unwind_next(struct unwinding *at, uintptr_t *frame);

/* Returns the frames from a running function outwards. `here` and `frame` are that function's
 * __builtin_return_address(0) and __builtin_frame_address(0); `here` is the first return address. The
 * function must keep a frame pointer, which the second builtin ensures. */
struct unwound unwind_callers(uintptr_t here, uintptr_t frame, struct stack_span stack, uintptr_t *frames,
                              size_t most);

#endif
