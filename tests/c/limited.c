/* Prints what a process under a small limit sees: the numbers of its descriptors, how much it can write, map
 * and start. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DESCRIPTORS = 12, BLOCK = 1000, BLOCKS = 20 };

static void *nothing(void *argument) { return argument; }

static int deep(int levels)
{
    volatile char room[512];
    room[0] = (char)levels;
    return levels == 0 ? 0 : 1 + deep(levels - 1) + 0 * room[0];
}

int main(void)
{
    static char data[BLOCK];
    int fds[DESCRIPTORS], status;
    pthread_t thread;
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; i < DESCRIPTORS; i++)
        printf("%d ", fds[i] = open("/dev/null", O_RDONLY));
    for (int i = 0; i < DESCRIPTORS; i++)
        close(fds[i]);
    int fd = open("data", O_CREAT | O_RDWR | O_TRUNC, 0600);
    long wrote = 0;
    for (int i = 0; i < BLOCKS; i++) {
        ssize_t done = write(fd, data, BLOCK);
        wrote += done > 0 ? done : 0;
    }
    printf("wrote %ld: %d\n", wrote, fd);
    FILE *text = fopen("text", "w");
    printf("text %d\n", text ? fputs("abc", text) : -1);
    void *memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf("mapped %d\n", memory != MAP_FAILED);
    printf("locked %d\n", mlock(data, BLOCK) == 0);
    printf("deep %d\n", deep(10));
    pid_t child = fork();
    if (child == 0)
        _exit(write(fd, data, 1) == 1);
    printf("child %d\n", child > 0 && waitpid(child, &status, 0) == child ? WEXITSTATUS(status) : -1);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 * 1024);
    int started = pthread_create(&thread, &small, nothing, NULL);
    printf("thread %d\n", started == 0 ? pthread_join(thread, NULL) : -1);
    return 7;
}
