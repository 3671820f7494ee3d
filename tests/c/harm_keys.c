/* A program that uses all thread-specific keys (pthread_key_create): each thread must find its own values.
 * Prints a line for each difference; exit code 1 if there is one. */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "../../profiler/include/iolens.h"

static pthread_key_t key[PTHREAD_KEYS_MAX];
static char kept[PTHREAD_KEYS_MAX];
static int keys, changed, strange, ended;

static void at_the_end(void *value)
{
    strange += (char *)value < kept || (char *)value >= kept + keys;
    ended++;
}

static void *work(void *unused)
{
    for (int i = 0; i < keys; i++)
        pthread_setspecific(key[i], &kept[i]);
    iolens_region_begin(1, "written");
    int fd = open("keys.dat", O_CREAT | O_WRONLY, 0600);
    write(fd, "x", 1);
    close(fd);
    iolens_region_end(1);
    for (int i = 0; i < keys; i++)
        changed += pthread_getspecific(key[i]) != &kept[i];
    return unused;
}

int main(void)
{
    pthread_t thread;
    while (keys < PTHREAD_KEYS_MAX && pthread_key_create(&key[keys], at_the_end) == 0)
        keys++;
    if (pthread_create(&thread, NULL, work, NULL) != 0 || pthread_join(thread, NULL) != 0)
        return 2;
    if (changed || strange || ended != keys)
        printf("%d values changed, %d ended that were none, %d of %d ended\n", changed, strange, ended, keys);
    return changed || strange || ended != keys;
}
