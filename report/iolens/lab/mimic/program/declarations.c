/* The I/O calls of a recorded run, made again: a table of phases, and the program that plays it.
 *
 *   mpicc -O2 -o mimic mimic.c && mpirun -np RANKS ./mimic [options]
 *
 *   --directory DIR  folder of the files, made if it is missing; files of the same names are replaced [data]
 *   --json FILE      file for the bytes and seconds of writing and reading
 *   --spin           compute while the recorded program computed, instead of sleeping
 *   --no-wait        leave out the recorded waiting
 *   --prepare        only make the files that the recorded run found, and end
 *
 * `iolens mimic` wrote this file. README.md beside it says which properties of the run it keeps. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* KINDS */

enum { FILE_NUMBER, OFFSET, LENGTH, DETAIL, VALUES, MOST_LOOPS = 32, MOST_OPEN = 64, PATH_BYTES = 4096 };

/* A value of the m-th rank of a program: base + m % period * inner + m / period * outer, or, where `list` is
 * not negative, lists[list + m]. */
struct number {
    long base, period, inner, outer, list;
};

/* A call, or a loop: the `body` steps that follow, `count` times. The values and the wait before the call
 * (ns) are places in `numbers`. From `stride` on, `strides` has the amount by which one iteration of each
 * enclosing loop, the outermost first, changes the values. */
struct step {
    enum kind kind;
    int count, body, value[VALUES], wait, stride;
};

/* The steps of ranks that make the same kinds of calls in the same order. */
struct program {
    int first, steps;
};

/* The ranks first, first + stride, … of a program; the first of them is its member number `member`. */
struct members {
    int program, first, count, stride, member;
};

/* The next `count` files hold `before` bytes before the run (-1: they do not exist), and are created with the
 * permissions `mode` (0: none given). If `aligned` is set, all memory that was transferred was aligned, and
 * the pieces of a view lie in memory so that they are aligned too. */
struct files {
    long count, before, mode, aligned;
};

struct hint {
    long first_file, files;
    const char *key, *value;
};

/* Transfers of a file by a rank from memory that is not aligned. */
struct misaligned {
    long file, rank, transfers;
};

struct opening {
    int communicator, mode, hints;
};

/* Ranks first, first + stride, … of communicator number `communicator`. */
struct ranks {
    int communicator, first, count, stride;
};

/* A file view: from `first` on, `rows` rows of `pieces`. */
struct view {
    long displacement, extent;
    int first, rows;
};

struct pieces {
    long offset, length, count1, stride1, count2, stride2, count3, stride3;
};

/* TABLES */

struct handle {
    MPI_File file;
    MPI_Datatype pieces; /* Memory for one file type of the view. */
    bool has_pieces, alone;
};

struct open_file {
    int fd[MOST_OPEN], opened;
    FILE *stream;
    struct handle handles[MOST_OPEN];
    int handles_open;
    long known_size, misaligned;
    MPI_Request later;
};

static struct open_file *open_files[FILES];
static MPI_Comm communicators[COMMUNICATORS];
static char *memory;
static int rank, member;
static bool spin, no_wait;
static const char *directory = "data", *result;
static double owed, last_end, spent[2];
static long moved[2];
