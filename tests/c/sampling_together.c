/* sampling_together: runs two threads that are busy for a second, of which the second begins a while after
 * the first. */
#include <pthread.h>
#include <time.h>

static void *be_busy(void *unused)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) < 1);
    return unused;
}

int main(void)
{
    const struct timespec uneven = {0, 7300000};
    pthread_t thread;
    nanosleep(&uneven, NULL);
    pthread_create(&thread, NULL, be_busy, NULL);
    be_busy(NULL);
    pthread_join(thread, NULL);
    return 0;
}
