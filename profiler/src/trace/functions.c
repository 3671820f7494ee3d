/* The program's own functions, where it was built with -finstrument-functions. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../adapter.h"

#define BORDER(returns, name, parameters, meaning) __attribute__((weak)) returns name parameters;
#include "../adapter.def"
#undef BORDER

#define EXPORT __attribute__((visibility("default")))

enum { DEEPEST = 256 };

/* What the thread is in: deeper calls are followed, but not timed. Not of the model "initial-exec", for which
 * there is no room of this size where an auditor (LD_AUDIT) is loaded. */
static __thread struct {
    int depth;
    struct {
        void *function;
        double begin;
    } open[DEEPEST];
} stack;

EXPORT void __cyg_profile_func_enter(void *function, void *caller);
EXPORT void __cyg_profile_func_exit(void *function, void *caller);

void __cyg_profile_func_enter(void *function, void *caller)
{
    int at = stack.depth++;
    (void)caller;
    if (at >= DEEPEST)
        return;
    stack.open[at].function = function;
    bool timed = iolens_called && iolens_tracing() && iolens_called_wanted((uintptr_t)function);
    stack.open[at].begin = timed ? iolens_now() : 0;
}

/* A function that was left by longjmp or an exception has no exit: those inside it are forgotten. */
void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)caller;
    if (stack.depth > DEEPEST) {
        stack.depth--;
        return;
    }
    while (stack.depth > 0 && stack.open[stack.depth - 1].function != function)
        stack.depth--;
    if (stack.depth == 0)
        return;
    stack.depth--;
    if (stack.open[stack.depth].begin > 0 && iolens_called && iolens_tracing())
        iolens_called((uintptr_t)function, stack.open[stack.depth].begin, iolens_now());
}
