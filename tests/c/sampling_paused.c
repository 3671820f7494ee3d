/* A program that switches recording off during half of its work. */
#include <time.h>

#include "../../profiler/include/iolens.h"

static volatile long sum;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void unseen(void)
{
    for (double begin = now(); now() - begin < 0.1;)
        sum++;
}

void seen(void)
{
    for (double begin = now(); now() - begin < 0.1;)
        sum--;
}

int main(void)
{
    iolens_record(0);
    unseen();
    iolens_record(1);
    seen();
    return 0;
}
