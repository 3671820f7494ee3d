/* A monotonic clock that runs at double speed during a process's first 5 ms. The profiler estimates the
 * length of a tick in that time, and so assumes twice the true length until the end of recording corrects
 * it. */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SPRINT_NS = 5000000, SECOND_NS = 1000000000 };

int clock_gettime(clockid_t id, struct timespec *now)
{
    static long long first;
    long code = syscall(SYS_clock_gettime, id, now);
    if (code != 0 || id != CLOCK_MONOTONIC)
        return (int)code;
    long long ns = now->tv_sec * (long long)SECOND_NS + now->tv_nsec;
    first = first ? first : ns;
    ns += ns - first < SPRINT_NS ? ns - first : SPRINT_NS;
    now->tv_sec = ns / SECOND_NS;
    now->tv_nsec = ns % SECOND_NS;
    return 0;
}
