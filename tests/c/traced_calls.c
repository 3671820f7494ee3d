/* Calls functions of every traced group, each a known number of times; a child of fork, a signal handler and
 * a cancelled thread use memory too. */
#include <complex.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../profiler/include/iolens.h"

enum { TIMES = 100 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int is_ready;

static void *waits(void *unused)
{
    pthread_mutex_lock(&lock);
    while (!is_ready)
        pthread_cond_wait(&ready, &lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *waits_for_ever(void *unused)
{
    free(malloc(100));
    for (;;)
        pause();
    return unused;
}

static void on_signal(int number) { (void)number; }

int main(void)
{
    pthread_t thread;
    volatile double x = 0.5, sum = 0;
    iolens_region_begin(1, "heap");
    for (int i = 0; i < TIMES; i++) {
        char *memory = malloc(1000);
        memory = realloc(memory, 2000);
        free(memory);
        free(calloc(10, 10));
    }
    iolens_region_end(1);
    iolens_region_begin(2, "math");
    for (int i = 0; i < TIMES; i++)
        sum += exp(x) + pow(x, x) + sinf((float)x) + cimag(cexp(x * I));
    iolens_region_end(2);
    iolens_region_begin(3, "threads");
    pthread_create(&thread, NULL, waits, NULL);
    pthread_mutex_lock(&lock);
    is_ready = 1;
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    iolens_region_end(3);
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    pthread_create(&thread, NULL, waits_for_ever, NULL);
    usleep(1000);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    int fd = open("traced.txt", O_CREAT | O_WRONLY, 0600);
    if (fork() == 0) {
        free(malloc(10));
        exit(write(fd, "child\n", 6) != 6);
    }
    int status = -1;
    wait(&status);
    printf("%.6f %.6f %.6f %.6f %d\n", exp(0.5), pow(0.5, 0.5), (double)sinf(0.5f), sum, status);
    return status != 0;
}
