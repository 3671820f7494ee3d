/* Writes to its own files and to a common file, then ends in the way that its argument names. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_file(const char *name, int times)
{
    int fd = open(name, O_CREAT | O_RDWR | O_TRUNC, 0644);
    for (int i = 0; i < times; i++)
        pwrite(fd, name, 4, 4 * i);
    close(fd);
}

static void *become_true(void *unused)
{
    (void)unused;
    execl("/bin/true", "true", NULL);
    return NULL;
}

/* spool_killed HOW FILES: writes FILES files of ten writes each, and a stream, and ends in the way HOW. */
int main(int argc, char **argv)
{
    int files = atoi(argv[2]);
    FILE *stream = fopen("stream", "w");
    for (int i = 0; i < files; i++) {
        char name[32];
        snprintf(name, sizeof name, "file%d", i);
        write_file(name, 10);
    }
    fputs("five!", stream);
    fflush(stream);
    if (strcmp(argv[1], "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(argv[1], "abort") == 0)
        abort();
    if (strcmp(argv[1], "wait") == 0)
        pause();
    if (strcmp(argv[1], "exec") == 0)
        become_true(NULL);
    if (strcmp(argv[1], "exec_in_thread") == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, become_true, NULL);
        pthread_join(thread, NULL);
    }
    if (strcmp(argv[1], "exec_of_nothing") == 0) {
        execlp("no such program", "none", NULL);
        write_file("later", 10);
    }
    return 3;
}
