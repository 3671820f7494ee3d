/* The program's own functions, where it was built with -finstrument-functions. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pthread.h>
#include <signal.h>

#include "../adapter.h"

#define BORDER(returns, name, parameters, meaning) __attribute__((weak)) returns name parameters;
#include "../adapter.def"
#undef BORDER

#define EXPORT __attribute__((visibility("default")))

enum { DEEPEST = 256, NOWHERE = -1 };

struct open {
    void *function;
    uintptr_t frame;
    double begin;     /* 0: it is not timed */
    uint64_t counted; /* where counters are read: the number of the call; 0: no counters of this one */
};

/* The functions in which the thread is; deeper calls are followed, but not timed. A function that was left by
 * longjmp has no exit. The position of the stack, which grows downward, distinguishes it from one that
 * continues. The variable is not of the model "initial-exec", because an auditor (LD_AUDIT) leaves no room of
 * this size there. Each use of `of_thread` is a call of the loader, so a hook asks once for its address. */
struct stack {
    int depth;
    struct open open[DEEPEST];
};

static __thread struct stack of_thread;

__attribute__((noinline)) static struct stack *stack_of_thread(void) { return &of_thread; }

EXPORT void __cyg_profile_func_enter(void *function, void *caller);
EXPORT void __cyg_profile_func_exit(void *function, void *caller);

/* Forget functions whose part of the stack has been given back, and those in the same place: one that the
 * function which begins now is inlined into is given up with them. Not those that a signal interrupted whose
 * handler has a stack of its own. Returns the depth. */
__attribute__((noinline)) static int without_left(const struct stack *stack, uintptr_t frame)
{
    int depth = DEEPEST;
    if (stack->open[DEEPEST - 1].frame > frame || (iolens_on_signal_stack && iolens_on_signal_stack()))
        return stack->depth;
    while (depth > 0 && stack->open[depth - 1].frame <= frame)
        depth--;
    return depth;
}

__attribute__((noinline)) static void read_counters(struct open *open)
{
    open->counted = iolens_counted_begin(0, (uintptr_t)open->function, open->frame);
}

void __cyg_profile_func_enter(void *function, void *caller)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    struct stack *stack = stack_of_thread();
    int at = __builtin_expect(stack->depth < DEEPEST, 1) ? stack->depth : without_left(stack, frame);
    (void)caller;
    stack->depth = at + 1;
    if (at >= DEEPEST)
        return;
    struct open *open = &stack->open[at];
    *open = (struct open){function, frame, 0, 0};
    if (!iolens_called || !iolens_called_wanted((uintptr_t)function))
        return;
    unsigned wanted = iolens_tracing();
    if (!wanted)
        return;
    if (wanted & IOLENS_TRACE_COUNTERS)
        read_counters(open);
    open->begin = iolens_now();
}

/* Where the function was entered that is left with the stack at `frame`: in the same place, or in the
 * outermost one below it, since those farther in have been left before; or above it, where it took more of
 * the stack meanwhile. */
__attribute__((noinline)) static int place_of(struct stack *stack, const void *function, uintptr_t frame)
{
    int found = NOWHERE;
    if (stack->depth > DEEPEST && frame < stack->open[DEEPEST - 1].frame) {
        stack->depth--;
        return NOWHERE;
    }
    for (int at = (stack->depth < DEEPEST ? stack->depth : DEEPEST) - 1; at >= 0; at--) {
        bool above = stack->open[at].frame > frame;
        if (above && found != NOWHERE)
            break;
        if (stack->open[at].function != function)
            continue;
        found = at;
        if (above || stack->open[at].frame == frame)
            break;
    }
    return found;
}

/* An exit that is jumped to, in place of being called, finds the stack as the function's caller left it. */
void __cyg_profile_func_exit(void *function, void *caller)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0) - (__builtin_return_address(0) == caller);
    struct stack *stack = stack_of_thread();
    int at = stack->depth - 1;
    bool innermost =
        at >= 0 && at < DEEPEST && stack->open[at].function == function && stack->open[at].frame == frame;
    if (!innermost && (at = place_of(stack, function, frame)) == NOWHERE)
        return;
    stack->depth = at;
    const struct open *open = &stack->open[at];
    if (open->begin == 0)
        return;
    double end = iolens_now();
    if (open->counted)
        iolens_counted_end(open->counted, 0, (uintptr_t)open->function);
    iolens_called((uintptr_t)open->function, open->begin, end);
}

/* The calls that a child of fork is in began in its parent, by another clock. */
static void forget_all(void) { stack_of_thread()->depth = 0; }

__attribute__((constructor)) static void start(void) { pthread_atfork(NULL, NULL, forget_all); }
