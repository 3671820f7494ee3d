/* Writes files in a callback that MPI_Finalize calls, and on rank 0 after MPI_Finalize. With the word `fail`,
 * the callback of every rank fails; with `children`, a child of each rank writes as well. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank;
static char bytes[3000];

static void put(const char *name, size_t count)
{
    char path[64];
    snprintf(path, sizeof path, "%s.%d", name, rank);
    int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0644);
    if (write(fd, bytes, count) != (ssize_t)count)
        abort();
    close(fd);
}

/* The barrier needs all ranks, so that a profiler which waits for other ranks before the callbacks would
 * hang. */
static int in_callback(MPI_Comm comm, int key, void *fails, void *extra)
{
    (void)comm, (void)key, (void)extra;
    put("callback", 1000);
    MPI_Barrier(MPI_COMM_WORLD);
    return fails ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    static char mark;
    int key;
    FILE *kept = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, in_callback, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, argc > 1 && strcmp(argv[1], "fail") == 0 ? &mark : NULL);
    put("during", 10);
    if (rank == 1)
        kept = fopen("kept", "w");
    MPI_Finalize();
    if (argc > 1 && strcmp(argv[1], "children") == 0 && fork() == 0) {
        put("child", 100);
        exit(0);
    }
    if (rank == 0)
        put("after", sizeof bytes);
    if (kept)
        fclose(kept);
    return 0;
}
