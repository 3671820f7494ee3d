/* Makes rank 2 late for a barrier. The first argument is the reason: `lock`, rank 1 holds the lock of a file;
 * `computing`, rank 2 computes; `core`, another process uses rank 2's core at times; `fault`, rank 2 reads a
 * mapped file. Except with `lock`, prints the microseconds that rank 2 was off its core, by clock_gettime.
 * The reason lies in the region `program/late`, and the outer region never ends. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../profiler/include/iolens.h"

enum { PROGRAM = 1, LATE };
enum { FILE_BYTES = 64 << 20, STRIDE = 1 << 14 };

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double off_core(void) { return seconds_of(CLOCK_MONOTONIC) - seconds_of(CLOCK_THREAD_CPUTIME_ID); }

/* Computes for 0.4 s of processor time. */
static void spin(void)
{
    double end = seconds_of(CLOCK_THREAD_CPUTIME_ID) + 0.4;
    while (seconds_of(CLOCK_THREAD_CPUTIME_ID) < end)
        ;
}

/* Starts a child that computes on this process's core until it is killed; returns its process number. */
static pid_t rival(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    pid_t child = fork();
    while (child == 0)
        ;
    return child;
}

static const char *mapped_file(void)
{
    char *data = calloc(1, FILE_BYTES);
    int fd = open("mapped", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (!data || write(fd, data, FILE_BYTES) != FILE_BYTES || fsync(fd) != 0)
        exit(1);
    free(data);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    char *file = mmap(NULL, FILE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
    madvise(file, FILE_BYTES, MADV_RANDOM);
    close(fd);
    return file;
}

static void touch(const char *file)
{
    static volatile char sink;
    for (int at = 0; at < FILE_BYTES; at += STRIDE)
        sink = file[at];
    (void)sink;
}

static void lock_whole(int fd, short kind)
{
    struct flock whole = {.l_type = kind, .l_whence = SEEK_SET};
    fcntl(fd, F_SETLKW, &whole);
}

static void wait_for_lock(int rank)
{
    int fd = open("locked", O_RDWR | O_CREAT, 0600);
    if (rank == 1)
        lock_whole(fd, F_WRLCK);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        usleep(400000);
        lock_whole(fd, F_UNLCK);
    } else if (rank == 2) {
        iolens_region_begin(LATE, "late");
        lock_whole(fd, F_WRLCK);
        usleep(100000);
        iolens_region_end(LATE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    close(fd);
}

static void come_late(int rank, const char *cause)
{
    bool core = strcmp(cause, "core") == 0, fault = strcmp(cause, "fault") == 0;
    pid_t child = rank == 2 && core ? rival() : 0;
    const char *file = rank == 2 && fault ? mapped_file() : NULL;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 2) {
        double before = off_core();
        iolens_region_begin(LATE, "late");
        if (file)
            touch(file);
        else
            spin();
        iolens_region_end(LATE);
        printf("OFF_CORE %.0f\n", 1e6 * (off_core() - before));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (child > 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    iolens_region_begin(PROGRAM, "program");
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(argv[1], "lock") == 0)
        wait_for_lock(rank);
    else
        come_late(rank, argv[1]);
    MPI_Finalize();
    return 0;
}
