#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "system_call.h"

enum { PATH_ROOM = 64, TEXT_ROOM = 96 };

/* Builds the number of a thread's clock as <linux/posix-timers.h> defines it: the upper bits hold ~id, the
 * lower bits mean "of a thread" and "as scheduled". */
clockid_t usage_clock(int32_t kernel_id) { return (clockid_t)(~(unsigned)kernel_id << 3 | 6); }

/* Returns the seconds in which a thread was ready to run and had no core; NaN if the kernel does not count
 * them. The file schedstat has three numbers about a thread: nanoseconds on a core (up to the last tick
 * only), nanoseconds ready to run without a core, and how often it was given a core. All are 0 if the kernel
 * counts none of them. */
static double runnable(int32_t kernel_id)
{
    char path[PATH_ROOM] = "/proc/self/schedstat", text[TEXT_ROOM], *behind;
    /* The first thread has a shorter path; for the longer one the kernel would create two directory entries
     * at each look-up. */
    if (kernel_id != system_call(SYS_getpid))
        snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", (int)kernel_id);
    slurp(path, text, sizeof text);
    strtoull(text, &behind, 10);
    unsigned long long waited = strtoull(behind, &behind, 10), times = strtoull(behind, NULL, 10);
    return times > 0 ? 1e-9 * (double)waited : (double)NAN;
}

struct usage usage_of_thread(int32_t kernel_id)
{
    struct timespec now = {0, 0};
    system_call(SYS_clock_gettime, usage_clock(kernel_id), &now);
    return (struct usage){(double)now.tv_sec + 1e-9 * (double)now.tv_nsec, runnable(kernel_id)};
}

struct usage usage_between(struct usage begin, struct usage end)
{
    return (struct usage){end.on_core - begin.on_core, end.runnable - begin.runnable};
}
