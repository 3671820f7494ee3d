#include "page_cache.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "json.h"

enum { TRIES = 10 };

/* Returns the part of a mapped file that is in memory, from 0 to 1; mincore(2) marks each page that is. */
static double part_held(void *mapped, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (bytes + page - 1) / page, held = 0;
    unsigned char *marks = malloc(pages);
    double part = NAN;
    if (marks != NULL && mincore(mapped, bytes, marks) == 0) {
        for (size_t i = 0; i < pages; i++)
            held += marks[i] & 1U;
        part = (double)held / (double)pages;
    }
    free(marks);
    return part;
}

/* Drops a file's pages and returns the part that stays in memory. The kernel drops only pages that are
 * written to storage, so msync writes them first; an fsync would appear in a profiler's counters as if it
 * belonged to the program's timed part. */
static double forget(int descriptor, size_t bytes)
{
    double part = NAN;
    void *mapped = mmap(NULL, bytes, PROT_READ, MAP_SHARED, descriptor, 0);
    if (mapped == MAP_FAILED)
        return NAN;
    const struct timespec pause = {.tv_nsec = 10000000};
    bool ready = msync(mapped, bytes, MS_SYNC) == 0;
    /* Pages that another processor is just adding to the page cache cannot be dropped yet, so a few tries are
     * needed. */
    for (int tries = 0; ready && tries < TRIES && !(part == 0.0); tries++) {
        if (tries > 0)
            nanosleep(&pause, NULL);
        ready = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) == 0;
        part = ready ? part_held(mapped, bytes) : NAN;
    }
    munmap(mapped, bytes);
    return part;
}

/* Drops the file's pages from this node's memory, and returns the part of the file that stays there; NaN if
 * unknown. */
static double forget_here(const char *path)
{
    struct stat about;
    /* msync writes only mappings that may be written to, so the file is opened for reading and writing. */
    int descriptor = open(path, O_RDWR | O_CLOEXEC);
    if (descriptor < 0)
        return NAN;
    double part =
        fstat(descriptor, &about) == 0 && about.st_size > 0 ? forget(descriptor, (size_t)about.st_size) : NAN;
    close(descriptor);
    return part;
}

void page_cache_forget_everywhere(const char *path, MPI_Comm comm, double *held)
{
    MPI_Barrier(comm);
    double part = forget_here(path), most;
    int unknown = is_nan(part) || is_nan(*held);
    MPI_Allreduce(MPI_IN_PLACE, &unknown, 1, MPI_INT, MPI_MAX, comm);
    MPI_Allreduce(&part, &most, 1, MPI_DOUBLE, MPI_MAX, comm);
    *held = unknown ? NAN : fmax(*held, most);
}
