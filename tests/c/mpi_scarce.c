/* mpi_scarce RANK N: all ranks write shared files, and in MPI_Finalize the recorder's Nth request for memory
 * is refused on that rank (if N is negative, the -Nth and all later ones). Prints the number of requests. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trapped_calls.h"

static int armed, requests, refused_one;

static int refuse(void)
{
    if (!armed)
        return 0;
    requests++;
    return refused_one > 0 ? requests == refused_one : refused_one < 0 && requests >= -refused_one;
}

static long answer(long number, const long values[6])
{
    return number == SYS_mmap && refuse() ? -ENOMEM : make_call(number, values);
}

/* Replaces mremap, by which the recorder enlarges its memory, and refuses when memory is to be scarce. The
 * recorder makes mmap as a system call, which this program traps. */
void *mremap(void *old, size_t from, size_t to, int flags, ...)
{
    static void *(*real)(void *, size_t, size_t, int, ...);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "mremap");
    if (refuse()) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return real(old, from, to, flags);
}

int main(int count, char **argument)
{
    static char text[5000];
    int rank, size;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int file = 0; file < 3; file++) {
        char name[32];
        snprintf(name, sizeof name, file == 2 ? "own%d.dat" : "shared%d.dat", file == 2 ? rank : file);
        int fd = open(name, O_RDWR | O_CREAT, 0600);
        for (int i = 0; i < 40; i++)
            pwrite(fd, text, 100 + 7 * i * (rank + 1), (long)i * 9000 + 50 * i * rank);
        close(fd);
    }
    MPI_Bcast(text, 8, MPI_BYTE, 0, MPI_COMM_WORLD);
    refused_one = atoi(argument[2]);
    armed = rank == atoi(argument[1]);
    if (armed)
        trap_calls(SYS_mmap, SYS_mmap, answer);
    MPI_Finalize();
    if (armed)
        printf("%d requests\n", requests);
    return 0;
}
