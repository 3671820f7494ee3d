/* Allocates, moves and frees blocks at random in several threads, which also free one another's blocks.
 * Prints what the program's own functions did: "calls bytes live_blocks live_bytes high_bytes". Usage:
 * heap_random SEED THREADS OPERATIONS return|kill|fork [plain] */
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PLACES = 4096, MOST_BYTES = 3000, PAGE = 4096 };

struct block {
    void *memory;
    size_t bytes;
};

static struct block places[PLACES];
static pthread_mutex_t locks[PLACES];
static atomic_llong calls, bytes, live_blocks, live_bytes, high_bytes;
static unsigned seed;
static int operations;
static bool plain; /* True if the program was started with `plain`: then it allocates no aligned block. */

static unsigned drawn(unsigned *state, unsigned most)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % most;
}

static void count(long long blocks, long long by)
{
    live_blocks += blocks;
    long long now = atomic_fetch_add(&live_bytes, by) + by, high = high_bytes;
    while (now > high && !atomic_compare_exchange_weak(&high_bytes, &high, now))
        ;
}

static void *allocated(unsigned way, size_t size)
{
    void *memory = NULL;
    switch (way) {
    case 0:
        return calloc(size, 1);
    case 1:
        return memalign(64, size);
    case 2:
        return posix_memalign(&memory, PAGE, size) ? NULL : memory;
    case 3:
        return aligned_alloc(64, size);
    case 4:
        return valloc(size);
    case 5:
        return pvalloc(size);
    case 6:
        return realloc(NULL, size);
    default:
        return malloc(size);
    }
}

__attribute__((noinline)) static void renew(struct block *block, unsigned *state)
{
    size_t size = drawn(state, MOST_BYTES) + 1;
    unsigned way = drawn(state, 12), how = plain ? way % 2 * 6 : way;
    if (way == 11 && realloc(block->memory, PTRDIFF_MAX))
        abort();
    if (block->memory && way < 6) {
        free(block->memory);
        count(-1, -(long long)block->bytes);
        block->memory = NULL;
        return;
    }
    count(block->memory ? 0 : 1, (long long)size - (long long)block->bytes * (block->memory != NULL));
    block->memory = block->memory ? realloc(block->memory, size) : allocated(how, size);
    block->bytes = size;
    calls++;
    bytes += (long long)size;
    memset(block->memory, 1, size);
}

static void *work(void *argument)
{
    unsigned state = seed * 7919u + (unsigned)(uintptr_t)argument;
    for (int i = 0; i < operations; i++) {
        unsigned place = drawn(&state, PLACES);
        pthread_mutex_lock(&locks[place]);
        renew(&places[place], &state);
        pthread_mutex_unlock(&locks[place]);
    }
    return NULL;
}

/* Allocates and frees blocks in a child of fork. The parent's blocks, which it frees first, are not counted
 * as the child's. */
static void in_child(void)
{
    for (int i = 0; i < PLACES; i++) {
        free(places[i].memory);
        places[i] = (struct block){0};
    }
    calls = bytes = live_blocks = live_bytes = high_bytes = 0;
    work(NULL);
}

int main(int count, char **words)
{
    enum { THREADS = 64 };
    pthread_t thread[THREADS];
    if (count < 5)
        return 2;
    int threads = atoi(words[2]);
    seed = (unsigned)atoi(words[1]);
    plain = count > 5;
    operations = atoi(words[3]);
    for (int i = 0; i < PLACES; i++)
        pthread_mutex_init(&locks[i], NULL);
    for (int i = 1; i < threads; i++)
        pthread_create(&thread[i], NULL, work, (void *)(uintptr_t)i);
    work(NULL);
    for (int i = 1; i < threads; i++)
        pthread_join(thread[i], NULL);
    pid_t child = strcmp(words[4], "fork") == 0 ? fork() : -1;
    if (child == 0)
        in_child();
    else if (child > 0)
        waitpid(child, NULL, 0);
    char line[200];
    int length = snprintf(line, sizeof line, "%d %lld %lld %lld %lld %lld\n", (int)getpid(), calls, bytes,
                          live_blocks, live_bytes, high_bytes);
    if (write(1, line, (size_t)length) != length)
        return 1;
    if (strcmp(words[4], "kill") == 0)
        kill(getpid(), SIGKILL);
    return 0;
}
