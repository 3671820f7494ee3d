#include "fail.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

enum { ALIGNMENT = 64, LINE_BYTES = 6000 };

/* Prints the line by one write, because ranks that fail at the same time would otherwise mix parts of their
 * lines. */
static void say(const char *format, va_list arguments)
{
    char text[LINE_BYTES];
    vsnprintf(text, sizeof text, format, arguments);
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, text);
}

void begin_program(int *count, char ***words)
{
    /* With the signal ignored, a write beyond the file size limit returns an error instead of ending the
     * program. */
    signal(SIGXFSZ, SIG_IGN);
    setvbuf(stdout, NULL, _IOLBF, 0);
    MPI_Init(count, words);
}

_Noreturn void fail(int status, const char *format, ...)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        va_list arguments;
        va_start(arguments, format);
        fflush(stdout);
        say(format, arguments);
        va_end(arguments);
    }
    MPI_Finalize();
    exit(status);
}

_Noreturn void fail_alone(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILED);
    abort();
}

void *allocate(size_t count, size_t size)
{
    void *memory = NULL;
    size_t bytes = (count * size + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    bool fits = size == 0 || count <= SIZE_MAX / 2 / size;
    if (fits)
        memory = aligned_alloc(ALIGNMENT, bytes);
    if (memory == NULL)
        fail_alone("out of memory: %zu x %zu bytes are needed at once; use more ranks or a smaller problem",
                   count, size);
    return memset(memory, 0, bytes);
}

void trouble_note(Trouble *trouble, const char *format, ...)
{
    if (trouble->any)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(trouble->text, sizeof trouble->text, format, arguments);
    va_end(arguments);
    trouble->any = true;
}

void trouble_note_mpi(Trouble *trouble, int code, const char *what, const char *file)
{
    if (code == MPI_SUCCESS)
        return;
    char words[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Error_string(code, words, &length);
    trouble_note(trouble, "%s %s: %s", what, file, words);
}

void trouble_add_space(Trouble *trouble, const char *path)
{
    struct statvfs found;
    char *end = trouble->text + strlen(trouble->text);
    size_t room = sizeof trouble->text - (size_t)(end - trouble->text);
    if (statvfs(path, &found) == 0)
        snprintf(end, room, " (%.1f MB free on that file system)",
                 1.0e-6 * (double)found.f_bavail * found.f_frsize);
}

bool trouble_shared(Trouble *trouble, MPI_Comm comm)
{
    int rank, ranks, first;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    int mine = trouble->any ? rank : ranks;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm);
    if (first == ranks)
        return false;
    MPI_Bcast(trouble->text, sizeof trouble->text, MPI_CHAR, first, comm);
    return trouble->any = true;
}

void fail_if_trouble(int status, Trouble *trouble, MPI_Comm comm)
{
    if (trouble_shared(trouble, comm))
        fail(status, "%s", trouble->text);
}
