/* Runs threads one after the other, each of which visits all regions and writes to new pages there; then
 * threads that are in one region at the same time. */
#include "../../profiler/include/iolens.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>

enum { THREADS = 100, AT_ONCE = 3, REGIONS = 170, PAGE = 4096 };

static pthread_barrier_t all_are_in;

static void *enter_all(void *unused)
{
    volatile char *pages =
        mmap(NULL, (size_t)REGIONS * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return NULL;
    madvise((void *)pages, (size_t)REGIONS * PAGE, MADV_NOHUGEPAGE);
    for (int region = 0; region < REGIONS; region++) {
        iolens_region_begin(1 + region, "a region");
        pages[(size_t)region * PAGE] = 1;
        iolens_region_end(1 + region);
    }
    munmap((void *)pages, (size_t)REGIONS * PAGE);
    return unused;
}

static void *meet(void *unused)
{
    iolens_region_begin(1000, "at once");
    pthread_barrier_wait(&all_are_in);
    iolens_region_end(1000);
    return unused;
}

static int at_once(void)
{
    pthread_t threads[AT_ONCE];
    int failed = pthread_barrier_init(&all_are_in, NULL, AT_ONCE);
    for (int i = 0; i < AT_ONCE; i++)
        failed |= pthread_create(&threads[i], NULL, meet, NULL);
    for (int i = 0; i < AT_ONCE && !failed; i++)
        failed |= pthread_join(threads[i], NULL);
    return failed;
}

int main(void)
{
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, enter_all, NULL) != 0 || pthread_join(thread, NULL) != 0)
            return 1;
    }
    return at_once();
}
