/* Runs four computing threads for each core, so that each has a core only for a part of its time. Prints the
 * processor time of all threads together, in seconds, as each thread reads it from getrusage. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_PER_CORE = 4, MOST_THREADS = 256, TURNS = 20000 };

static double seconds;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

__attribute__((noinline)) static double crowded(double end)
{
    volatile double sum = 0;
    while (now() < end)
        for (int i = 0; i < TURNS; i++)
            sum += i;
    return sum;
}

static void *compute(void *used)
{
    struct rusage usage;
    crowded(now() + seconds);
    getrusage(RUSAGE_THREAD, &usage);
    *(double *)used = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
                      1e-6 * (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    return NULL;
}

int main(int argc, char **argv)
{
    static pthread_t thread[MOST_THREADS];
    static double used[MOST_THREADS];
    double all = 0;
    long threads = THREADS_PER_CORE * sysconf(_SC_NPROCESSORS_ONLN);
    threads = threads < MOST_THREADS ? threads : MOST_THREADS;
    seconds = argc > 1 ? atof(argv[1]) : 1;
    for (long i = 0; i < threads; i++)
        pthread_create(&thread[i], NULL, compute, &used[i]);
    for (long i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        all += used[i];
    }
    printf("%.6f\n", all);
    return 0;
}
