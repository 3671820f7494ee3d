#include "run.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>

static void keep(Run *run, Latency latency, Told tell)
{
    if (run->count == run->capacity) {
        run->capacity = 2 * run->capacity + 64;
        run->latencies = realloc(run->latencies, (size_t)run->capacity * sizeof(Latency));
        if (run->latencies == NULL)
            fail_alone("out of memory for %d latencies", run->capacity);
    }
    run->latencies[run->count++] = latency;
    tell(run, &latency);
}

static bool fits(const Run *run, const Operation *operation, int64_t bytes)
{
    return operation_memory(operation, run->ranks, (size_t)bytes) <= (size_t)run->config->memory &&
           bytes / (int64_t)run->config->element->size <= INT_MAX / run->ranks;
}

/* Returns the first power of two that is at least `smallest` and at least the size of an element. */
static int64_t power_from(int64_t smallest, const Element *element)
{
    int64_t bytes = (int64_t)element->size;
    while (bytes < smallest)
        bytes *= 2;
    return bytes;
}

static void collective(Run *run, const Operation *operation, Told tell)
{
    const Config *config = run->config;
    const Element *element = config->element;
    int64_t bytes = operation->empty ? 0 : power_from(config->smallest, element);
    int64_t last = operation->empty ? 0 : config->largest;
    for (; bytes <= last && fits(run, operation, bytes); bytes *= 2) {
        keep(run, measure(operation, element, bytes, iterations_of(config->iterations, bytes), run->comm),
             tell);
        if (operation->empty)
            return;
    }
    if (bytes <= last && run->rank == 0)
        fprintf(stderr,
                "collectives: %s: messages from %lld bytes on are not timed, since they need more than "
                "--mem-limit\n",
                operation->name, (long long)bytes);
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

enum { SIZES_MAX = 64 + 3 * (VARIABLES_MAX + LIMITS_MAX + 1) };

static int add_around(int64_t *sizes, int count, int64_t limit)
{
    for (int step = -1; step <= 1; step++)
        sizes[count++] = limit + step;
    return count;
}

/* Lists the message sizes to measure, in ascending order: powers of two, and around each limit of a protocol
 * the sizes below, at and above it. */
static int sizes_of(const Run *run, int64_t *sizes)
{
    const Config *config = run->config;
    int count = 0, kept = 0;
    for (int64_t bytes = power_from(config->smallest, config->element); bytes <= config->largest; bytes *= 2)
        sizes[count++] = bytes;
    for (int i = 0; i < config->limit_count; i++)
        count = add_around(sizes, count, config->limits[i]);
    for (int i = 0; i < run->variable_count; i++)
        if (fnmatch("btl_*_eager_limit", run->variables[i].name, 0) == 0)
            count = add_around(sizes, count, atoll(run->variables[i].value));
    if (run->eager > 0)
        count = add_around(sizes, count, run->eager);
    qsort(sizes, (size_t)count, sizeof *sizes, ascending);
    for (int i = 0; i < count; i++)
        if (sizes[i] >= config->smallest && sizes[i] <= config->largest &&
            (kept == 0 || sizes[i] != sizes[kept - 1]))
            sizes[kept++] = sizes[i];
    return kept;
}

static void pingpongs(Run *run, Told tell)
{
    int64_t sizes[SIZES_MAX];
    run->eager = eager_observed(run->config->largest, run->comm);
    int count = sizes_of(run, sizes);
    for (int m = 0; m < MANNER_COUNT; m++)
        for (int i = 0; i < count; i++)
            keep(run,
                 pingpong(&MANNERS[m], sizes[i], iterations_of(run->config->iterations, sizes[i]), run->comm),
                 tell);
}

void run_all(Run *run, Told tell)
{
    double begin = MPI_Wtime();
    if (run->config->pingpong)
        pingpongs(run, tell);
    else
        for (int i = 0; i < run->config->chosen_count; i++)
            collective(run, run->config->chosen[i], tell);
    run->total_seconds = MPI_Wtime() - begin;
}

long long run_errors(const Run *run)
{
    long long errors = 0;
    for (int i = 0; i < run->count; i++)
        errors += run->latencies[i].errors;
    return errors;
}
