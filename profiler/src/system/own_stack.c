#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

#include "signals.h"
#include "system_call.h"

/* A block of memory that contains a stack. The saved contexts lie at its lower end, because a stack grows
 * downward and uses that end last. */
struct own_stack {
    ucontext_t here, there;
    char room[256 * 1024 - 2 * sizeof(ucontext_t)];
};

/* Avoids swapcontext, at which AddressSanitizer prints a warning. */
static void call_there(struct own_stack *stack, void (*what)(void))
{
    volatile bool been = false;
    getcontext(&stack->there);
    stack->there.uc_stack.ss_sp = stack->room;
    stack->there.uc_stack.ss_size = sizeof stack->room;
    stack->there.uc_link = &stack->here;
    makecontext(&stack->there, what, 0);
    getcontext(&stack->here); /* The program reaches this line a second time, when `what` has returned. */
    if (been)
        return;
    been = true;
    setcontext(&stack->there);
}

/* The stack that is kept for the next use. Most processes need one twice, and getting new pages takes longer
 * than the work that is done on them. */
static _Atomic(struct own_stack *) kept;

/* Returns the stack that is kept, or a new one; NULL without memory. */
static struct own_stack *take_stack(void)
{
    struct own_stack *stack = atomic_exchange(&kept, NULL);
    if (stack)
        return stack;
    long memory = system_call(SYS_mmap, NULL, sizeof *stack, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0L);
    return memory == -1 ? NULL : (struct own_stack *)memory;
}

static void give_back(struct own_stack *stack)
{
    struct own_stack *none = NULL;
    if (!atomic_compare_exchange_strong(&kept, &none, stack))
        system_call(SYS_munmap, stack, sizeof *stack);
}

void on_own_stack(void (*what)(void))
{
    sigset_t all, before;
    struct own_stack *stack = take_stack();
    if (!stack) {
        what();
        return;
    }
    sigfillset(&all);
    sigdelset(&all, SIGXFSZ);
    signals_set_mask(SIG_BLOCK, &all, &before);
    call_there(stack, what);
    signals_set_mask(SIG_SETMASK, &before, NULL);
    give_back(stack);
}

/* Returns false if the calling thread may have a small stack: the main thread by its limit, others because
 * programs choose their size. */
static bool stack_is_large(void)
{
    enum { ENOUGH = 1024 * 1024 };
    struct rlimit limit;
    return system_call(SYS_gettid) == system_call(SYS_getpid) &&
           system_call(SYS_prlimit64, 0, RLIMIT_STACK, NULL, &limit) == 0 && limit.rlim_cur >= ENOUGH;
}

bool on_enough_stack(void (*what)(void))
{
    if (stack_is_large()) {
        what();
        return true;
    }
    struct own_stack *stack = take_stack();
    if (!stack)
        return false;
    call_there(stack, what);
    give_back(stack);
    return true;
}
