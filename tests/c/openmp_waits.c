/* Runs two threads: the second works for SECONDS of processor time, the first for a tenth of that before it
 * waits for the second in a barrier. After the barrier only the first works. Prints how long the first thread
 * was in the barrier, and how long each thread worked. Built with -fopenmp, by GCC (libgomp) or Clang
 * (libomp). */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int omp_get_thread_num(void);

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

__attribute__((noinline)) static double work(double processor)
{
    double begin = now(CLOCK_THREAD_CPUTIME_ID), end = begin;
    volatile double sum = 0;
    for (; end < begin + processor; end = now(CLOCK_THREAD_CPUTIME_ID))
        for (int i = 0; i < 100000; i++)
            sum += i;
    return end - begin;
}

int main(int count, char **words)
{
    double seconds = atof(words[1]), in_barrier = 0, worked[2] = {0};
#pragma omp parallel num_threads(2)
    {
        int thread = omp_get_thread_num();
        worked[thread] = work(thread == 0 ? 0.1 * seconds : seconds);
        double begin = now(CLOCK_MONOTONIC);
#pragma omp barrier
        if (thread == 0)
            in_barrier = now(CLOCK_MONOTONIC) - begin;
    }
    worked[0] += work(0.5 * seconds);
    printf("barrier %.6f first %.6f second %.6f\n", in_barrier, worked[0], worked[1]);
    return 0;
}
