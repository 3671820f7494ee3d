#include "signals.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include "../system/system_call.h"

enum { LEFT_FREE = 2, MASK_BYTES = 8 };

static int (*real_sigaction)(int, const struct sigaction *, struct sigaction *);
static struct sigaction theirs; /* The action for the timers' signal that the program has set. */

/* Takes the highest free real-time signal below those that Valgrind uses. While the handler runs, other
 * signals are blocked, because their handlers might jump out of it; only signals that a fault raises are
 * not. */
int signals_take(signal_handler *handler)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    struct sigaction action, before;
    *(void **)&real_sigaction = dlsym(RTLD_NEXT, "sigaction");
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&action.sa_mask, faults[i]);
    for (int number = SIGRTMAX - LEFT_FREE; real_sigaction && number >= SIGRTMIN; number--)
        if (real_sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_DFL &&
            real_sigaction(number, &action, NULL) == 0)
            return number;
    return 0;
}

void signals_forward(int number, siginfo_t *info, void *context)
{
    struct sigaction action = theirs;
    if (action.sa_handler == SIG_IGN)
        return;
    if (action.sa_flags & SA_SIGINFO) {
        action.sa_sigaction(number, info, context);
    } else if (action.sa_handler != SIG_DFL) {
        action.sa_handler(number);
    } else { /* The action is the default one, which ends the process as soon as this handler returns. */
        real_sigaction(number, &action, NULL);
        raise(number);
    }
}

#if defined(__x86_64__)

/* Returns true if the kernel is about to repeat a system call that signals may end. The program counter is
 * then at the call's instruction, and a register set by this instruction shows that it has run before. */
static bool repeats(const ucontext_t *context)
{
    static const uint8_t call[] = {0x0f, 0x05};
    static const int64_t numbers[] = {
#define NUMBER(name) SYS_##name,
#include "interruptible.def"
#undef NUMBER
    };
    const greg_t *registers = context->uc_mcontext.gregs;
    if (registers[REG_RCX] != registers[REG_RIP] + (greg_t)sizeof call ||
        memcmp((const void *)registers[REG_RIP], call, sizeof call) != 0)
        return false;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (registers[REG_RAX] == numbers[i])
            return true;
    return false;
}

/* Returns true if a pending signal has a handler; `repeating`: also one after which system calls are repeated
 * (SA_RESTART). */
static bool have_handler(uint64_t waiting, bool repeating)
{
    struct sigaction action;
    for (; waiting != 0; waiting &= waiting - 1)
        if (real_sigaction(__builtin_ctzll(waiting) + 1, NULL, &action) == 0 &&
            action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN &&
            (repeating || !(action.sa_flags & SA_RESTART)))
            return true;
    return false;
}

/* Returns the signals that will be delivered when the handler returns. */
static uint64_t deliverable(const ucontext_t *context)
{
    uint64_t waiting = 0, held;
    memcpy(&held, &context->uc_sigmask, sizeof held);
    return system_call(SYS_rt_sigpending, &waiting, (size_t)MASK_BYTES) == 0 ? waiting & ~held : 0;
}

bool signals_await_handler(const void *interrupted) { return have_handler(deliverable(interrupted), true); }

void signals_interrupt(void *interrupted)
{
    ucontext_t *context = interrupted;
    if (!repeats(context) || !have_handler(deliverable(context), false))
        return;
    context->uc_mcontext.gregs[REG_RIP] = context->uc_mcontext.gregs[REG_RCX];
    context->uc_mcontext.gregs[REG_RAX] = -EINTR;
}

#else

void signals_interrupt(void *interrupted) { (void)interrupted; }

#endif

int signals_share(const struct sigaction *wanted, struct sigaction *before)
{
    struct sigaction was = theirs;
    if (wanted)
        theirs = *wanted;
    if (before)
        *before = was;
    return 0;
}

/* Calls the kernel directly, so that no other library intercepts the call. */
static uint64_t change_mask(int how, int number)
{
    uint64_t mask = UINT64_C(1) << (number - 1), before = 0;
    system_call(SYS_rt_sigprocmask, how, &mask, &before, (size_t)MASK_BYTES);
    return before & mask;
}

bool signals_block(int number) { return change_mask(SIG_BLOCK, number) != 0; }

void signals_let(int number) { change_mask(SIG_UNBLOCK, number); }
