/* Runs threads, one after another, that end inside two regions. Prints how many new pages each thread wrote
 * in the regions, and how long it lived. The process runs for much longer than each thread. With an argument
 * each thread first calls a traced function (on a mutex of its own), so that the memory for traced calls is
 * made before the memory for regions. */
#define _GNU_SOURCE
#include "../../profiler/include/iolens.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 3, PAGES = 50, OUTER = 1, INNER };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void *lived(void *traced_first)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    long page = sysconf(_SC_PAGESIZE);
    if (traced_first) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    iolens_region_begin(OUTER, "outer");
    iolens_region_begin(INNER, "inner");
    char *fresh =
        mmap(NULL, PAGES * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(fresh, PAGES * (size_t)page, MADV_NOHUGEPAGE);
    for (long i = 0; i < PAGES; i++)
        fresh[i * page] = 1;
    munmap(fresh, PAGES * (size_t)page);
    return NULL;
}

int main(int argc, char **argv)
{
    FILE *file = fopen("any.txt", "w");
    double seconds = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        seconds -= now();
        if (!file || pthread_create(&thread, NULL, lived, argc > 1 ? argv[1] : NULL) != 0)
            return 1;
        pthread_join(thread, NULL);
        seconds += now();
    }
    double after = now();
    while (now() < after + 10 * seconds)
        ;
    printf("%.9f %d\n", seconds, THREADS * PAGES);
    return fclose(file);
}
