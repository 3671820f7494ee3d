/* Wraps the marks of regions that BT-IO makes, and blocks the sampler's signal in every other block of five
 * time steps. Neighbouring blocks of one run then show the cost of samples, even if whole runs differ much.
 * At the end of each block rank 0 writes `BLOCK number on|off seconds` of its computing to standard error.
 * FIRST_ON=1: the first block is with samples. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_PHASE = 1, LAST_PHASE = 6, STEPS = 5, KEPT_FREE = 2, MASK_BYTES = 8 };

void iolens_region_begin(int64_t id, const char *label);
void iolens_region_end(int64_t id);

static int steps = -1; /* Number of time steps that have begun, without the one before BT's clock starts. */
static bool on;
static double begin, seconds;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Blocks or unblocks the signal of the samples, by the system call: the profiler's own sigprocmask would let
 * the signal through. */
static void switch_samples(void)
{
    const uint64_t mask = UINT64_C(1) << (SIGRTMAX - KEPT_FREE - 1);
    on = steps == 0 ? getenv("FIRST_ON") != NULL : !on;
    syscall(SYS_rt_sigprocmask, on ? SIG_UNBLOCK : SIG_BLOCK, &mask, NULL, (size_t)MASK_BYTES);
}

static void begin_step(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (++steps > 0 && steps % STEPS == 0 && rank && atoi(rank) == 0)
        fprintf(stderr, "BLOCK %d %s %.9f\n", steps / STEPS, on ? "on" : "off", seconds);
    if (steps >= 0 && steps % STEPS == 0) {
        seconds = 0;
        switch_samples();
    }
    begin = now();
}

void iolens_region_begin(int64_t id, const char *label)
{
    void (*next)(int64_t, const char *);
    *(void **)&next = dlsym(RTLD_NEXT, "iolens_region_begin");
    if (id == FIRST_PHASE)
        begin_step();
    if (next)
        next(id, label);
}

void iolens_region_end(int64_t id)
{
    void (*next)(int64_t);
    *(void **)&next = dlsym(RTLD_NEXT, "iolens_region_end");
    if (next)
        next(id);
    if (id == LAST_PHASE)
        seconds += now() - begin;
}
