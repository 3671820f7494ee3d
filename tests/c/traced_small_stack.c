/* Starts a thread on the smallest stack that POSIX allows, as programs with many threads do, and prints the
 * result. */
#include <pthread.h>
#include <stdio.h>

enum { SMALLEST_STACK = 16384 };

static void *thread(void *unused) { return unused; }

int main(void)
{
    pthread_attr_t attributes;
    pthread_t other;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, SMALLEST_STACK);
    int failed = pthread_create(&other, &attributes, thread, NULL);
    if (!failed)
        pthread_join(other, NULL);
    printf("%d\n", failed);
    return 0;
}
