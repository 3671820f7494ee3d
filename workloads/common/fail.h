/* Ending a program with one clear message, and carrying an error until all ranks know of it. */
#ifndef COMMON_FAIL_H
#define COMMON_FAIL_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* Called by every rank with the same outcome: rank 0 says it on standard error, MPI is finalised, all exit.
 */
_Noreturn void fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Called by one rank alone, for what the others cannot know: says it and aborts the job. */
_Noreturn void fail_alone(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* `count * size` zeroed bytes aligned for vectors; ends the job when there are none. Freed with free(). */
void *allocate(size_t count, size_t size);

/* The first thing that went wrong on a rank. Start with all zero. */
typedef struct Trouble {
    bool any;
    char text[1024];
} Trouble;

void trouble_note(Trouble *trouble, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Notes "<what> <file>: <the MPI library's words>" when `code` is an MPI error. */
void trouble_note_mpi(Trouble *trouble, int code, const char *what, const char *file);

/* Adds how much is free on the file system of `path`: MPI libraries hide the reason of a failed write, and
 * the most frequent one is a full file system. */
void trouble_add_space(Trouble *trouble, const char *path);

/* Collective: true when any rank has trouble; then every rank has the text of the lowest such rank. */
bool trouble_shared(Trouble *trouble, MPI_Comm comm);

#endif
