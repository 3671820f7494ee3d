/* Prints for a handler on the program's own stack and for one on an alternate stack of 8 KiB: the number of
 * real-time signals that the kernel blocks in it, and of those that sigaction then shows in its mask. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static int blocked;

static void handler(int number)
{
    uint64_t mask = 0;
    (void)number;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask);
    blocked = __builtin_popcountll(mask >> (SIGRTMIN - 1));
}

static void try_handler(int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, told;
    int shown = 0;
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    sigaction(SIGUSR1, NULL, &told);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        shown += sigismember(&told.sa_mask, number);
    printf("%d %d\n", blocked, shown);
}

int main(void)
{
    static char memory[8192];
    sigaltstack(&(stack_t){.ss_sp = memory, .ss_size = sizeof memory}, NULL);
    try_handler(0);
    try_handler(SA_ONSTACK);
    try_handler(0);
    return 0;
}
