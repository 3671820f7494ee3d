/* A program that calls every traced group that needs no library, with a thread, a child and a file. With any
 * groups and other options it must end and print the same. */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int turns;

static void *work(void *argument)
{
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&lock);
        turns++;
        pthread_mutex_unlock(&lock);
        free(malloc(100));
        sched_yield();
    }
    usleep(2000);
    return argument;
}

int main(void)
{
    char host[256], text[6] = "";
    struct rusage usage;
    pthread_t thread;
    int status = -1, fd = open("pairs.bin", O_RDWR | O_CREAT | O_TRUNC, 0600);
    gethostname(host, sizeof host);
    getrusage(RUSAGE_SELF, &usage);
    pthread_create(&thread, NULL, work, NULL);
    work(NULL);
    pthread_join(thread, NULL);
    volatile double root = 2;
    long bytes = write(fd, "hello", 5);
    lseek(fd, 0, SEEK_SET);
    bytes += read(fd, text, 5);
    close(fd);
    pid_t child = fork();
    if (child == 0)
        _exit(7);
    waitpid(child, &status, 0);
    printf("%d %ld %s %.3f %d\n", turns, bytes, text, pow(root, 0.5), WEXITSTATUS(status));
    return 3;
}
