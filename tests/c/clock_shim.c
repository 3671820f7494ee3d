/* A monotonic clock that runs CLOCK_SHIM_PPM parts in a million too fast, for the processes that it is
 * preloaded into. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *now)
{
    long code = syscall(SYS_clock_gettime, id, now);
    const char *ppm = getenv("CLOCK_SHIM_PPM");
    if (code != 0 || id != CLOCK_MONOTONIC || !ppm)
        return (int)code;
    __int128 ns = (__int128)now->tv_sec * 1000000000 + now->tv_nsec;
    ns += ns * atol(ppm) / 1000000;
    now->tv_sec = (time_t)(ns / 1000000000);
    now->tv_nsec = (long)(ns % 1000000000);
    return 0;
}
