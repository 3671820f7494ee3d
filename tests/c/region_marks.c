/* Marks regions that are nested, repeated, entered by threads and by a child of fork, or marked wrongly; in
 * one of them recording is switched off for a while. The test knows all expected values except the seconds in
 * `told.txt`: those of the region in which recording is off, and those while it is off. region_marks [kill]:
 * end by SIGKILL inside a region */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../profiler/include/iolens.h"

enum {
    OUTER = 1,
    INNER = 2,
    THREAD = 3,
    LOST = 4,
    OFF = 5,
    CHILD = 6,
    KILLED = 7,
    RECURSES = 8,
    REPEATS = 10
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

static void write_bytes(const char *name, int bytes)
{
    char data[64] = "";
    int fd = open(name, O_CREAT | O_WRONLY | O_APPEND, 0600);
    if (fd < 0 || write(fd, data, (size_t)bytes) != bytes || close(fd) != 0)
        exit(1);
}

static void *in_thread(void *unused)
{
    iolens_region_begin(THREAD, "thread");
    usleep(1000);
    iolens_region_end(THREAD);
    return unused;
}

static void recurse(int depth)
{
    iolens_region_begin(RECURSES, NULL);
    if (depth > 1)
        recurse(depth - 1);
    iolens_region_end(RECURSES);
}

static void nested(void)
{
    for (int i = 0; i < REPEATS; i++) {
        iolens_region_begin(OUTER, "outer");
        usleep(1000);
        iolens_region_begin(INNER, "inner");
        usleep(2000);
        iolens_region_end(INNER);
        iolens_region_end(OUTER);
    }
    iolens_region_begin(INNER, "inner"); /* Outside of OUTER, a region of the same id is another region. */
    iolens_region_end(INNER);
    recurse(3);
}

static void threads(void)
{
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, in_thread, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
}

static void wrong(void)
{
    iolens_region_end(99);
    iolens_region_begin(OUTER, "outer");
    iolens_region_begin(LOST, "lost");
    iolens_region_end(OUTER);
}

/* Closes one descriptor and moves the position of another while recording is off. */
static void off(void)
{
    char data[64] = "";
    int moved = open("moved.txt", O_CREAT | O_RDWR, 0600),
        closed = open("closed.txt", O_CREAT | O_RDWR, 0600);
    if (write(moved, data, 10) != 10 || write(closed, data, 10) != 10)
        exit(1);
    FILE *stream = fopen("stream.txt", "w");
    double around = now();
    iolens_region_begin(OFF, "off");
    iolens_record(0);
    double within = now();
    iolens_region_begin(INNER, "inner");
    usleep(2000);
    iolens_region_end(INNER);
    write_bytes("unseen.txt", 20);
    fputs("unseen", stream);
    if (write(moved, data, 30) != 30 || close(closed) != 0)
        exit(1);
    int reused = open("reused.txt", O_CREAT | O_RDWR, 0600);
    within = now() - within;
    iolens_record(1);
    iolens_region_end(OFF);
    around = now() - around;
    fputs("seen", stream);
    fclose(stream);
    if (write(moved, data, 5) != 5 || write(reused, data, 7) != 7)
        exit(1);
    close(moved);
    close(reused);
    FILE *told = fopen("told.txt", "w");
    fprintf(told, "%.9f %.9f\n", around, within);
    fclose(told);
}

static void child(void)
{
    iolens_region_begin(OUTER, "outer");
    pid_t pid = fork();
    if (pid == 0) {
        /* The parent began this region, so it is no error that the child ends it. */
        iolens_region_end(OUTER);
        iolens_region_begin(CHILD, "child");
        write_bytes("child.txt", 1);
        iolens_region_end(CHILD);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    iolens_region_end(OUTER);
}

int main(int argc, char **argv)
{
    write_bytes("first.txt", 1);
    if (argc > 1 && strcmp(argv[1], "kill") == 0) {
        iolens_region_begin(OUTER, "outer");
        iolens_region_end(OUTER);
        iolens_region_begin(KILLED, "killed");
        usleep(1000);
        iolens_flush();
        raise(SIGKILL);
    }
    nested();
    threads();
    wrong();
    off();
    child();
    return 0;
}
