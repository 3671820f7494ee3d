/* A library for LD_PRELOAD: a rank that waits for others sleeps, instead of giving up the processor again and
 * again, so that several recordings (tune.py) fit on a machine of few cores: cc -shared -fPIC -o patient.so
 * patient.c */

#include <time.h>

int sched_yield(void);

int sched_yield(void)
{
    struct timespec nap = {.tv_nsec = 100000};
    nanosleep(&nap, 0);
    return 0;
}
