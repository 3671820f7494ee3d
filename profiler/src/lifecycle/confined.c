#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "../runtime/wrap.h"
#include "../system/float_state.h"
#include "lifecycle.h"

static int (*real_prctl)(int option, ...);

__attribute__((constructor)) static void resolve(void) { wrap_resolve("prctl", &real_prctl); }

/* Writes the log before the program installs a filter of system calls, because it is unknown which calls the
 * filter will allow. */
static void before_filter(void)
{
    if (atomic_load(&iolens.wiped.recording) && iolens_is_this_process())
        lifecycle_end(
            "The program restricted its own system calls (seccomp), after which nothing could be recorded.");
}

/* Prepares for a program that forbids reading the processor's counter of time: from now on the time comes
 * from a system call, because the C library's clock reads the counter, too. */
static void before_tsc_is_forbidden(void)
{
    struct float_state state = float_hold();
    clock_forbid_tsc(&iolens.clock);
    float_release(&state);
    if (iolens_spool.header)
        iolens_spool.header->clock = iolens.clock;
    spool_beat();
}

void confined_prctl(long option, long first, long second)
{
    bool filter = first == SECCOMP_MODE_FILTER && second != 0;
    if (option == PR_SET_SECCOMP && (first == SECCOMP_MODE_STRICT || filter))
        before_filter();
    else if (option == PR_SET_TSC && first == PR_TSC_SIGSEGV)
        before_tsc_is_forbidden();
}

/* Prepares for a call that restricts the program's system calls. With a null filter the call only tests what
 * the kernel supports. */
void confined_seccomp(long operation, long filter)
{
    if (operation == SECCOMP_SET_MODE_STRICT || (operation == SECCOMP_SET_MODE_FILTER && filter))
        before_filter();
}

IOLENS_EXPORT int prctl(int option, ...)
{
    long value[4];
    va_list list;
    va_start(list, option);
    for (int i = 0; i < 4; i++)
        value[i] = va_arg(list, long);
    va_end(list);
    confined_prctl(option, value[0], value[1]);
    if (!real_prctl)
        resolve();
    return real_prctl(option, value[0], value[1], value[2], value[3]);
}
