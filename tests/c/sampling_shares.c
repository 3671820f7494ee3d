/* Spends known shares of the time: 50 % in `inlined` inside `fifty`, 30 % in `thirty` of a library, 20 % in
 * `twenty` in a thread of its own. Prints the seconds that each really took. With -DLIBRARY, this file is the
 * library. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef TURNS
#define TURNS 2000
#endif

double thirty(double seconds);

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

static inline __attribute__((always_inline)) double inlined(double seconds)
{
    volatile double sum = 0;
    double begin = now();
    while (now() < begin + seconds)
        for (int i = 0; i < TURNS; i++)
            sum += i;
    return now() - begin;
}

#ifdef LIBRARY
double thirty(double seconds) { return inlined(seconds); }
#else
__attribute__((noinline)) static double fifty(double seconds) { return inlined(seconds); }

__attribute__((noinline)) static void *twenty(void *seconds)
{
    *(double *)seconds = inlined(*(double *)seconds);
    return NULL;
}

int main(int argc, char **argv)
{
    double total = atof(argv[1]), third = 0.2 * total;
    pthread_t thread;
    printf("fifty %.6f\n", fifty(0.5 * total));
    printf("thirty %.6f\n", thirty(0.3 * total));
    pthread_create(&thread, NULL, twenty, &third);
    pthread_join(thread, NULL);
    printf("twenty %.6f\n", third);
    fflush(stdout);
    if (argc > 2 && strcmp(argv[2], "kill") == 0)
        abort();
    return 0;
}
#endif
