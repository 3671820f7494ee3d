/* Spends SECONDS in the way that MODE names, then prints the processor time that it used. Only the mode
 * `copies` does I/O, of which nothing reaches a file. Built with -fopenmp for the mode `openmp`. */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, TURN_US = 1000 };

static double seconds;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t passed = PTHREAD_COND_INITIALIZER;
static int turn;

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

/* Works until the calling thread has used this much more processor time. */
static void work(double processor)
{
    double end = now(CLOCK_THREAD_CPUTIME_ID) + processor;
    volatile double sum = 0;
    while (now(CLOCK_THREAD_CPUTIME_ID) < end)
        for (int i = 0; i < 1000; i++)
            sum += i;
}

static void sleeps(void)
{
    for (int i = 0; i < (int)(10 * seconds); i++)
        usleep(100000);
}

static void spins(void)
{
    volatile double sum = 0;
    for (double end = now(CLOCK_MONOTONIC) + seconds; now(CLOCK_MONOTONIC) < end;)
        for (int i = 0; i < 1000; i++)
            sum += i;
}

static void polls(int timeout)
{
    int pipe_ends[2];
    if (pipe(pipe_ends) != 0)
        exit(1);
    struct pollfd end_of_pipe = {.fd = pipe_ends[0], .events = POLLIN};
    for (double end = now(CLOCK_MONOTONIC) + seconds; now(CLOCK_MONOTONIC) < end;)
        for (int i = 0; i < (timeout ? 1 : 1000); i++)
            poll(&end_of_pipe, 1, timeout);
}

/* Makes threads work one after the other, while all others wait for the lock. */
static void *take_turns(void *number)
{
    int mine = (int)(long)number, rounds = (int)(seconds / THREADS / (1e-6 * TURN_US));
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&lock);
        while (turn != mine)
            pthread_cond_wait(&passed, &lock);
        work(1e-6 * TURN_US);
        turn = (turn + 1) % THREADS;
        pthread_cond_broadcast(&passed);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void convoy(void)
{
    pthread_t thread[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, take_turns, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

static void parent(void)
{
    if (fork() == 0) {
        work(seconds);
        _exit(0);
    }
    wait(NULL);
}

/* Works in two OpenMP threads: the first for 0.2 times SECONDS, the second for 1.5 times SECONDS. */
static void openmp(void)
{
#pragma omp parallel for schedule(static, 1) num_threads(2)
    for (int i = 0; i < 2; i++)
        work(i == 0 ? 0.2 * seconds : 1.5 * seconds);
}

/* Computes, and copies to a stream's buffer, in turns for SECONDS of processor time; prints the seconds of
 * computing. */
static void copies(void)
{
    static char buffer[16 << 20], block[1 << 16];
    FILE *nowhere = fopen("/dev/null", "w");
    double computed = 0;
    volatile double sum = 0;
    if (!nowhere || setvbuf(nowhere, buffer, _IOFBF, sizeof buffer) != 0)
        exit(1);
    while (now(CLOCK_THREAD_CPUTIME_ID) < seconds) {
        double begin = now(CLOCK_THREAD_CPUTIME_ID);
        for (int i = 0; i < 2000000; i++)
            sum += i;
        computed += now(CLOCK_THREAD_CPUTIME_ID) - begin;
        for (int i = 0; i < 500; i++)
            fwrite(block, sizeof block, 1, nowhere);
    }
    printf("computed %.6f ", computed);
}

int main(int count, char **words)
{
    struct rusage usage;
    const char *mode = words[1];
    seconds = atof(words[2]);
    if (strcmp(mode, "sleeps") == 0)
        sleeps();
    else if (strcmp(mode, "spins") == 0)
        spins();
    else if (strcmp(mode, "polls") == 0)
        polls(1);
    else if (strcmp(mode, "asks") == 0)
        polls(0);
    else if (strcmp(mode, "convoy") == 0)
        convoy();
    else if (strcmp(mode, "parent") == 0)
        parent();
    else if (strcmp(mode, "openmp") == 0)
        openmp();
    else if (strcmp(mode, "copies") == 0)
        copies();
    else
        return 1;
    getrusage(RUSAGE_SELF, &usage);
    printf("user %.6f system %.6f\n", usage.ru_utime.tv_sec + 1e-6 * usage.ru_utime.tv_usec,
           usage.ru_stime.tv_sec + 1e-6 * usage.ru_stime.tv_usec);
    return 0;
}
