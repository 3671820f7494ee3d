/* Allocates memory in several ways. The constants are the values that a log of the heap must have. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* AFTER_PEAK: microseconds between the high water and the blocks that are allocated later. */
enum { AFTER_PEAK = 100000 };

enum { KEPT = 1000, KEPT_BYTES = 1000, PEAK_BYTES = 5000000, LATE_BYTES = 4000000, CHURN = 20000 };

void *volatile sink;

/* Blocks at many addresses that are allocated and freed, so that the profiler's table of blocks grows and
 * gets holes. */
static void *blocks[CHURN];

__attribute__((noinline)) void keeps(void)
{
    for (int i = 0; i < KEPT; i++)
        sink = malloc(KEPT_BYTES);
}

__attribute__((noinline)) void *peaks(void) { return sink = calloc(1, PEAK_BYTES); }

__attribute__((noinline)) void late(void)
{
    sink = malloc(LATE_BYTES);
    free(sink);
}

__attribute__((noinline)) void grows(void)
{
    char *block = malloc(100);
    sink = block = realloc(block, 300);
    sink = realloc(block, (size_t)1 << 62); /* This realloc fails, so that the old block stays. */
}

__attribute__((noinline)) void churns(void)
{
    for (int i = 0; i < CHURN; i++)
        blocks[i] = malloc((size_t)(i % 50 + 1));
    for (int i = 0; i < CHURN; i += 2)
        free(blocks[i]);
    for (int i = 0; i < CHURN; i += 2)
        if (posix_memalign(&blocks[i], 64, 16))
            abort();
    for (int i = CHURN - 1; i >= 0; i--)
        free(blocks[i]);
}

static void *frees(void *block)
{
    free(block);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    keeps();
    churns();
    void *peak = peaks();
    if (pthread_create(&thread, NULL, frees, peak) || pthread_join(thread, NULL))
        return 1;
    usleep(AFTER_PEAK);
    late();
    grows();
    if (fork() == 0) {
        free(malloc(10));
        _exit(0);
    }
    wait(NULL);
    return 0;
}
