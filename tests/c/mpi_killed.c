/* Each rank writes a part of one file and a file of its own; then the job ends in the way that the argument
 * names. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void make(const char *name) { close(open(name, O_CREAT | O_WRONLY, 0644)); }

/* Waits until another process has made the file, for a quarter of an hour at most. */
static void wait_for(const char *name)
{
    for (int i = 0; i < 45000 && access(name, F_OK) != 0; i++)
        usleep(20000);
}

/* Reports that all ranks have made their last MPI call; waits until the file "go" exists. */
static void wait_for_the_end(int rank, int ranks)
{
    char name[32];
    snprintf(name, sizeof name, "here%d", rank);
    make(name);
    for (int other = 0; rank == 0 && other < ranks; other++) {
        snprintf(name, sizeof name, "here%d", other);
        wait_for(name);
    }
    if (rank == 0)
        make("ready");
    wait_for("go");
}

int main(int argc, char **argv)
{
    int rank, ranks;
    char name[32];
    const char *how = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    snprintf(name, sizeof name, "own%d", rank);
    int shared = open("shared", O_CREAT | O_WRONLY, 0644), own = open(name, O_CREAT | O_WRONLY, 0644);
    int wrong = pwrite(shared, "12345678", 8, 8L * rank) != 8 || write(own, "12345678", 8) != 8;
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(how, "all") == 0 || (strcmp(how, "one") == 0 && rank == 1))
        kill(getpid(), SIGKILL);
    if (strcmp(how, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (strcmp(how, "segfault") == 0 && rank == 1)
        raise(SIGSEGV);
    if (strcmp(how, "exit") == 0)
        _exit(wrong);
    if (strcmp(how, "exec") == 0)
        execlp("true", "true", NULL);
    if (strcmp(how, "wait") == 0)
        wait_for_the_end(rank, ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return wrong;
}
