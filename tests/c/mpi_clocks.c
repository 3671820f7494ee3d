/* Writes a file on each rank several times, with pauses, and prints the times of these writes by a clock that
 * all ranks of this machine share: lines `rank before after`, in ns of CLOCK_REALTIME. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { WRITES = 5, PAUSE_US = 60000 };

static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv)
{
    int rank;
    char name[32], line[100];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "written.%d", rank);
    int fd = open(name, O_CREAT | O_WRONLY, 0600);
    for (int i = 0; i < WRITES; i++) {
        long long before = now();
        if (write(fd, "x", 1) != 1)
            MPI_Abort(MPI_COMM_WORLD, 1);
        int bytes = snprintf(line, sizeof line, "%d %lld %lld\n", rank, before, now());
        if (write(STDOUT_FILENO, line, (size_t)bytes) != bytes)
            MPI_Abort(MPI_COMM_WORLD, 1);
        usleep(PAUSE_US);
    }
    close(fd);
    MPI_Finalize();
    return 0;
}
