/* Stands for libcufile.so.0, or for libhipfile.so.0 where STATISTICS is hipFileGetStatsL3: transfers nothing,
 * and answers with numbers that tell each field from the others. STUB_END makes it fail in that way instead.
 * Crashes if it is asked after its own handler for exit, when the real library may be in pieces. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct result {
    int library, driver;
};

static int is_over;

static void take_apart(void) { is_over = 1; }

__attribute__((constructor)) static void start(void) { atexit(take_apart); }

#ifndef STATISTICS
#define STATISTICS cuFileGetStatsL3
#endif

#ifndef WITHOUT_STATISTICS

static void fail(const char *way)
{
    printf("the library prints this\n");
    fflush(stdout);
    if (strcmp(way, "crash") == 0)
        *(volatile int *)8 = 0;
    if (strcmp(way, "abort") == 0)
        abort();
    if (strcmp(way, "leave") == 0)
        _exit(3);
    while (strcmp(way, "hang") == 0)
        pause();
}

/* The answer of level 3 as numbers of 8 bytes: 128 of levels 1 and 2, the number of GPUs, then for each of 16
 * GPUs 2 of its identity and 29 counters, in the order of cufile.h, which
 * hipfile.h keeps. */
enum {
    GPUS_AT = 128,
    FIRST_GPU = 129,
    IDENTITY = 2,
    COUNTERS = 29,
    NUMBERS = FIRST_GPU + 16 * (IDENTITY + COUNTERS)
};

struct result STATISTICS(uint64_t *answer) {
    const char *way = getenv("STUB_END");
    if (is_over)
        abort();
    if (way && strcmp(way, "move") == 0) {
        answer++; /* as another version might that has a number more at the front */
        way = NULL;
    }
    if (way)
        fail(way);
    if (way)
        return (struct result){5022, 0};
    memset(answer, 0, (NUMBERS - 1) * sizeof *answer);
    answer[GPUS_AT] = 2;
    for (int gpu = 0; gpu < 2; gpu++) {
        uint64_t *one = answer + FIRST_GPU + gpu * (IDENTITY + COUNTERS);
        memset(one, 0xa0 + gpu, 16);
        for (int i = 0; i < COUNTERS; i++)
            one[IDENTITY + i] = (uint64_t)(1000 * (gpu + 1) - i);
    }
    return (struct result){0, 0};
}

#endif
