#include "signals.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LEFT_FREE = 2, MASK_BYTES = 8 };

static int (*real_sigaction)(int, const struct sigaction *, struct sigaction *);
static struct sigaction theirs; /* what the program wants done with the signal */

/* The last ones are used by Valgrind. While the handler runs no other comes, which might jump out of it;
 * those that a fault raises do. */
int signals_take(signal_handler *handler)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    struct sigaction action, before;
    *(void **)&real_sigaction = dlsym(RTLD_NEXT, "sigaction");
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
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
    } else { /* it ends the process, as soon as the handler returns */
        real_sigaction(number, &action, NULL);
        raise(number);
    }
}

int signals_share(const struct sigaction *wanted, struct sigaction *before)
{
    struct sigaction was = theirs;
    if (wanted)
        theirs = *wanted;
    if (before)
        *before = was;
    return 0;
}

/* The kernel itself is asked, so that no other library comes between. */
static uint64_t change_mask(int how, int number)
{
    uint64_t mask = UINT64_C(1) << (number - 1), before = 0;
    syscall(SYS_rt_sigprocmask, how, &mask, &before, (size_t)MASK_BYTES);
    return before & mask;
}

bool signals_block(int number) { return change_mask(SIG_BLOCK, number) != 0; }

void signals_let(int number) { change_mask(SIG_UNBLOCK, number); }
