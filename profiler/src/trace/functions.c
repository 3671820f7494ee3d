/* Times the program's own functions, if the program was built with -finstrument-functions. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

#include "../adapter.h"

#define BORDER(returns, name, parameters, meaning) __attribute__((weak)) returns name parameters;
#include "../adapter.def"
#undef BORDER

#define EXPORT __attribute__((visibility("default")))

enum { DEEPEST = 200, NOWHERE = -1 };

struct open {
    uintptr_t frame;
    struct iolens_called call; /* The call with its times; `t0` is 0 if the call is not timed. */
    uint64_t counted;          /* Number of the call if counters are read; 0: it has no counters. */
};

/* The functions in which the thread is; deeper calls are followed, but not timed. A function that was left by
 * longjmp never reports its exit; that its part of the stack is in use again shows that it was left. */
struct stack {
    int depth;
    struct open open[DEEPEST];
};

/* Memory for the functions in which the thread is. It comes from the core: a thread-local variable of this
 * size would take half of the smallest stack that POSIX allows, even in threads that call no instrumented
 * function. */
static __thread void *of_thread __attribute__((tls_model("initial-exec")));

__attribute__((noinline)) static struct stack *new_stack(void)
{
    return iolens_called_room ? iolens_called_room(sizeof(struct stack), &of_thread) : NULL;
}

/* Returns the functions in which this thread is; NULL while nothing is recorded. */
static struct stack *stack_of_thread(void)
{
    struct stack *stack = of_thread;
    return __builtin_expect(stack != NULL, 1) ? stack : new_stack();
}

EXPORT void __cyg_profile_func_enter(void *function, void *caller);
EXPORT void __cyg_profile_func_exit(void *function, void *caller);

/* Forgets functions whose part of the stack is in use again or whose frame is at the same place. The latter
 * also forgets a function into which the new one is inlined. Functions that a signal interrupted stay if the
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
    open->counted = iolens_counted_begin(0, open->call.function, open->frame);
}

/* Returns true unless a timed call of the same function encloses the call at the place `at`. */
static bool is_outermost(const struct stack *stack, int at)
{
    uintptr_t function = stack->open[at].call.function;
    while (--at >= 0)
        if (stack->open[at].call.function == function && stack->open[at].call.t0 > 0)
            return false;
    return true;
}

void __cyg_profile_func_enter(void *function, void *caller)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    struct stack *stack = stack_of_thread();
    (void)caller;
    if (!stack)
        return;
    int at = __builtin_expect(stack->depth < DEEPEST, 1) ? stack->depth : without_left(stack, frame);
    stack->depth = at + 1;
    if (at >= DEEPEST)
        return;
    struct open *open = &stack->open[at];
    *open = (struct open){.frame = frame, .call.function = (uintptr_t)function};
    if (!iolens_called || !iolens_called_wanted((uintptr_t)function))
        return;
    unsigned wanted = iolens_tracing();
    if (!wanted)
        return;
    if (wanted & IOLENS_TRACE_COUNTERS)
        read_counters(open);
    open->call.spent = iolens_spent();
    open->call.t0 = iolens_now();
}

/* Returns the place of the function that is being left: its entry with the frame `frame`; else the outermost
 * of its entries with a lower frame, because the entries inside that one were left before; else the innermost
 * of its entries with a higher frame, if the function has used more of its stack since; NOWHERE if it has
 * none. */
__attribute__((noinline)) static int place_of(struct stack *stack, uintptr_t function, uintptr_t frame)
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
        if (stack->open[at].call.function != function)
            continue;
        found = at;
        if (above || stack->open[at].frame == frame)
            break;
    }
    return found;
}

static void end(const struct stack *stack, int at)
{
    const struct open *open = &stack->open[at];
    if (open->call.t0 == 0)
        return;
    double t1 = iolens_now();
    if (open->counted)
        iolens_counted_end(open->counted, 0, open->call.function);
    iolens_called(&open->call, t1, is_outermost(stack, at));
}

/* Ends the call of a function of the program's own; compiled code calls this hook at its end. If the compiler
 * replaced this last call by a jump, the stack is already that of the function's caller. */
void __cyg_profile_func_exit(void *function, void *caller)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0) - (__builtin_return_address(0) == caller);
    struct stack *stack = of_thread;
    if (!stack)
        return;
    int at = stack->depth - 1;
    bool innermost = at >= 0 && at < DEEPEST && stack->open[at].call.function == (uintptr_t)function &&
                     stack->open[at].frame == frame;
    if (!innermost && (at = place_of(stack, (uintptr_t)function, frame)) == NOWHERE)
        return;
    stack->depth = at;
    end(stack, at);
}

/* Ends the calls in which this thread is when recording ends, including main, from the innermost outwards.
 * Calls whose part of the stack is in use again were left before and do not count. */
static void close_calls(void)
{
    struct stack *stack = of_thread;
    if (!stack)
        return;
    int depth = stack->depth < DEEPEST ? stack->depth : DEEPEST;
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    stack->depth = 0;
    while (--depth >= 0)
        if (stack->open[depth].frame > frame)
            end(stack, depth);
}

/* Forgets all open calls in a child of fork: they began in its parent, by another clock, and are not counted.
 */
static void forget_all(void)
{
    struct stack *stack = of_thread;
    if (stack)
        stack->depth = 0;
}

#if defined(__x86_64__) && defined(__GLIBC__)
/* Returns the stack pointer in a jmp_buf of glibc, which is rotated and mixed with the thread's pointer
 * guard. */
static uintptr_t stack_pointer(const void *place)
{
    enum { STACK_POINTER = 6 };
    uintptr_t kept = ((const uintptr_t *)place)[STACK_POINTER];
    __asm__("ror $17, %0\n\txor %%fs:0x30, %0" : "+r"(kept) : : "cc");
    return kept;
}

/* Distance in bytes between a function's stack pointer and the frame of its hook: the return address and the
 * saved frame pointer. */
enum { OWN_WORDS = 2 * sizeof(uintptr_t) };

/* Forgets the calls that a longjmp leaves: all functions whose frames lie below the stack to which it
 * returns. */
static void forget_below(const void *place)
{
    struct stack *stack = of_thread;
    if (!stack)
        return;
    uintptr_t lowest = stack_pointer(place) - OWN_WORDS;
    int depth = stack->depth < DEEPEST ? stack->depth : DEEPEST;
    while (depth > 0 && stack->open[depth - 1].frame < lowest)
        depth--;
    if (depth < DEEPEST)
        stack->depth = depth;
}

typedef void jump_fn(void *place, int value);

static jump_fn *real_longjmp, *real__longjmp, *real_siglongjmp, *real___longjmp_chk;

static void find_jumps(void)
{
    real_longjmp = (jump_fn *)dlsym(RTLD_NEXT, "longjmp");
    real__longjmp = (jump_fn *)dlsym(RTLD_NEXT, "_longjmp");
    real_siglongjmp = (jump_fn *)dlsym(RTLD_NEXT, "siglongjmp");
    real___longjmp_chk = (jump_fn *)dlsym(RTLD_NEXT, "__longjmp_chk");
}

/* Constructors of the program's libraries may call these functions before the constructor of this library has
 * run. */
#define JUMP(name)                                                                                           \
    EXPORT void name(void *place, int value);                                                                \
    void name(void *place, int value)                                                                        \
    {                                                                                                        \
        if (!real_##name)                                                                                    \
            find_jumps();                                                                                    \
        forget_below(place);                                                                                 \
        real_##name(place, value);                                                                           \
    }
JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)
#undef JUMP
#else
static void find_jumps(void) {}
#endif

__attribute__((constructor)) static void start(void)
{
    find_jumps();
    pthread_atfork(NULL, NULL, forget_all);
    if (iolens_called_close)
        iolens_called_close(close_calls);
}
