/* Threads that come one after the other, each in all regions, where each touches fresh pages. */
#include "../../profiler/include/iolens.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>

enum { THREADS = 100, REGIONS = 170, PAGE = 4096 };

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

int main(void)
{
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, enter_all, NULL) != 0 || pthread_join(thread, NULL) != 0)
            return 1;
    }
    return 0;
}
