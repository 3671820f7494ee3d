/* Waits that MPI has no part in: threads, other processes, flags in files, pipes. */
#define _GNU_SOURCE
#include "why_kinds.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void *delays(void *unused)
{
    planted_delay(0);
    return unused;
}

static void *delays_and_sends(void *unused)
{
    planted_delay(0);
    MPI_Send(kind_sent, SMALL, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
    return unused;
}

/* The first thread waits for a second one, which writes. */
static void thread_writes(void)
{
    pthread_t other;
    if (rank_is(1)) {
        pthread_create(&other, NULL, delays, NULL);
        pthread_join(other, NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    work(200);
}

/* The second thread of rank 1 sends, while its first thread has nothing to do. */
static void thread_sends(void)
{
    pthread_t other;
    if (rank_is(1)) {
        pthread_create(&other, NULL, delays_and_sends, NULL);
        work(100);
        pthread_join(other, NULL);
    } else if (rank_is(0)) {
        MPI_Recv(kind_received, SMALL, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(500);
    }
}

static void process_writes(void)
{
    if (rank_is(1)) {
        pid_t other = fork();
        if (other == 0) {
            planted_delay(0);
            _exit(0);
        }
        waitpid(other, NULL, 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    work(200);
}

/* Rank 0 polls for a file that rank 2 makes after its delay. */
static void flag_file(void)
{
    struct stat there;
    if (rank_is(0))
        unlink("flag");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_is(2)) {
        planted_delay(0);
        close(open("flag", O_CREAT | O_WRONLY, 0600));
    }
    while (rank_is(0) && stat("flag", &there) != 0)
        work(5);
    work(rank_is(0) ? 500 : 0);
}

/* Rank 3 writes into a pipe that rank 0 reads. */
static void named_pipe(void)
{
    char byte = 1;
    if (rank_is(0) && mkfifo("pipe", 0600))
        exit(1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_is(3)) {
        planted_delay(0);
        int out = open("pipe", O_WRONLY);
        if (write(out, &byte, 1) != 1)
            exit(1);
        close(out);
    } else if (rank_is(0)) {
        int in = open("pipe", O_RDONLY);
        if (read(in, &byte, 1) != 1)
            exit(1);
        close(in);
        work(500);
    }
}

/* A file lock that rank 1 holds while it writes. */
static void lock_of_file(void)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int file = open("locked", O_CREAT | O_RDWR, 0600);
    if (rank_is(1))
        fcntl(file, F_SETLKW, &lock);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_is(1))
        planted_delay(0);
    else if (rank_is(0))
        fcntl(file, F_SETLKW, &lock);
    lock.l_type = F_UNLCK;
    fcntl(file, F_SETLK, &lock);
    close(file);
    work(rank_is(0) ? 500 : 0);
}

const struct why_kind outside_kinds[] = {{"thread_writes", thread_writes},
                                         {"thread_sends", thread_sends},
                                         {"process_writes", process_writes},
                                         {"outside_flag_file", flag_file},
                                         {"outside_named_pipe", named_pipe},
                                         {"outside_lock_of_file", lock_of_file},
                                         {NULL, NULL}};
