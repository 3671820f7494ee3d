/* Starts and ends programs, with one clear message if they fail, and keeps a rank's error until all ranks
 * know of it. */
#ifndef COMMON_FAIL_H
#define COMMON_FAIL_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* Starts MPI. Standard output is written line by line, also into a pipe. */
void begin_program(int *count, char ***words);

/* Ends the program with a message of rank 0 on standard error. Every rank must call this with the same
 * status. */
_Noreturn void fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Ends the job with a message of this rank, for errors that other ranks cannot know. */
_Noreturn void fail_alone(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns `count * size` zeroed bytes aligned for vectors; ends the job if there is not enough memory. The
 * caller frees them with free(). */
void *allocate(size_t count, size_t size);

/* The first error on a rank. Must be zeroed at the start. */
typedef struct Trouble {
    bool any;
    char text[1024];
} Trouble;

void trouble_note(Trouble *trouble, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Notes "<what> <file>: <message of the MPI library>" if `code` is an MPI error. */
void trouble_note_mpi(Trouble *trouble, int code, const char *what, const char *file);

/* Adds the free space on the file system of `path`, because MPI libraries hide the reason of a failed write,
 * most often a full file system. */
void trouble_add_space(Trouble *trouble, const char *path);

/* Collective. Returns true if any rank has noted an error; every rank then has the text of the lowest such
 * rank. */
bool trouble_shared(Trouble *trouble, MPI_Comm comm);

/* Collective. If any rank has noted an error, ends the program with the text of the lowest such rank. */
void fail_if_trouble(int status, Trouble *trouble, MPI_Comm comm);

#endif
