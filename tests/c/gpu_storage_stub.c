/* A substitute for libcufile.so.0, or for libhipfile.so.0 if STATISTICS is hipFileGetStatsL3. It transfers
 * nothing, and returns numbers that differ for each field. STUB_END makes it fail in the named way instead.
 * It crashes if it is asked after its own exit handler has run, because the real library may already be
 * finalised then. */
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

#ifdef VECTORS
void cuFileReadv(void) {}
enum { VECTOR_NUMBERS = 14 };
#else
enum { VECTOR_NUMBERS = 0 };
#endif

/* The statistics of level 3 as numbers of 8 bytes: 128 of levels 1 and 2, 14 more since cuFile 1.19, the
 * number of GPUs, then for each of 16 GPUs 2 of its identity and 29 counters, in the order of cufile.h, which
 * hipfile.h keeps. */
enum {
    GPUS_AT = 128 + VECTOR_NUMBERS,
    FIRST_GPU = GPUS_AT + 1,
    IDENTITY = 2,
    COUNTERS = 29,
    NUMBERS = FIRST_GPU + 16 * (IDENTITY + COUNTERS)
};

/* Changes the answer or the result in a way that no sound library has. Returns false for other ways. */
static int distort(const char *way, uint64_t *answer, struct result *result)
{
    enum { BYTES = 2, CALLS = 6, FALL_BACKS = 9, ERRORS = 14, WRITTEN_BYTES = 15 };
    uint64_t *first = answer + FIRST_GPU, *last = answer + FIRST_GPU + 15 * (IDENTITY + COUNTERS);
    if (strcmp(way, "all_ones") == 0)
        memset(answer, 0xff, NUMBERS * sizeof *answer);
    else if (strcmp(way, "many_bytes") == 0)
        first[BYTES] = UINT64_C(1) << 62;
    else if (strcmp(way, "negative_bytes") == 0)
        last[WRITTEN_BYTES] = (uint64_t)-1;
    else if (strcmp(way, "many_calls") == 0)
        first[CALLS] = first[FALL_BACKS] = UINT64_MAX;
    else if (strcmp(way, "many_errors") == 0)
        first[ERRORS] = UINT64_MAX;
    else if (strcmp(way, "many_gpus") == 0)
        answer[GPUS_AT] = 17;
    else if (strcmp(way, "longer") == 0)
        answer[NUMBERS + 3] = 1;
    else if (strcmp(way, "refuse_with_numbers") == 0)
        *result = (struct result){5022, 0};
    else if (strcmp(way, "negative_error") == 0)
        *result = (struct result){-1, 0};
    else
        return 0;
    return 1;
}

struct result STATISTICS(uint64_t *answer) {
    const char *way = getenv("STUB_END");
    struct result result = {0, 0};
    if (is_over)
        abort();
    if (way && strcmp(way, "move") == 0) {
        answer++; /* This shifts all numbers, as in another version with one more number at the front. */
        way = NULL;
    }
    memset(answer, 0, (NUMBERS - 1) * sizeof *answer);
    answer[GPUS_AT] = 2;
    for (int gpu = 0; gpu < 2; gpu++) {
        uint64_t *one = answer + FIRST_GPU + gpu * (IDENTITY + COUNTERS);
        memset(one, 0xa0 + gpu, 16);
        for (int i = 0; i < COUNTERS; i++)
            one[IDENTITY + i] = (uint64_t)(1000 * (gpu + 1) - i);
    }
    if (!way || distort(way, answer, &result))
        return result;
    memset(answer, 0, (NUMBERS - 1) * sizeof *answer);
    fail(way);
    return (struct result){5022, 0};
}

#endif
