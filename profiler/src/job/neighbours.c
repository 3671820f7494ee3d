#include "neighbours.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../system/slurp.h"
#include "../system/system_call.h"

enum { PATH_ROOM = 64, CHUNK = 8192, LONGEST_WORD = 32, CHILDREN = 16384 };

static int open_of(long process, const char *file)
{
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "/proc/%ld/%s", process, file);
    return (int)system_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
}

/* Sets found[i] if the file contains words[i], a text of at most LONGEST_WORD bytes. Zeros in the file are
 * read as spaces. Returns false if it cannot be read. */
static bool find_words(long process, const char *file, size_t count, const char *const words[], bool found[])
{
    char text[LONGEST_WORD + CHUNK + 1];
    size_t kept = 0;
    long got;
    bool readable = false;
    int fd = open_of(process, file);
    while (fd >= 0 && (got = system_call(SYS_read, fd, text + kept, (size_t)CHUNK)) > 0) {
        size_t used = kept + (size_t)got;
        for (size_t i = 0; i < used; i++)
            text[i] = (char)(text[i] ? text[i] : ' ');
        text[used] = '\0';
        for (size_t i = 0; i < count; i++)
            found[i] = found[i] || strstr(text, words[i]);
        kept = used < LONGEST_WORD ? used : LONGEST_WORD;
        memmove(text, text + used - kept, kept);
        readable = true;
    }
    if (fd >= 0)
        system_call(SYS_close, fd);
    return readable;
}

/* Returns true if the process is of this job, as far as PMIx tells: a daemon may have children of several. */
static bool is_of_this_job(long process)
{
    const char *job = getenv("PMIX_NAMESPACE");
    char word[LONGEST_WORD];
    const char *const words[] = {word};
    bool same = false;
    if (!job || snprintf(word, sizeof word, "SPACE=%s ", job) >= (int)sizeof word)
        return true;
    return !find_words(process, "environ", 1, words, &same) || same;
}

static bool is_recorded(long process)
{
    static const char *const words[] = {"/libmpi", "libiolens-openmpi", "libiolens-mpi"};
    enum { MPI, OPENMPI_ADAPTER, MPICH_ADAPTER, WORDS };
    bool found[WORDS] = {false};
    return !find_words(process, "maps", WORDS, words, found) || !found[MPI] || found[OPENMPI_ADAPTER] ||
           found[MPICH_ADAPTER] || !is_of_this_job(process);
}

bool neighbours_are_recorded(void)
{
    char path[PATH_ROOM], text[CHILDREN], *end = text;
    long parent = system_call(SYS_getppid), self = system_call(SYS_getpid);
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", parent, parent);
    size_t bytes = slurp(path, text, sizeof text);
    for (char *at = text; bytes > 0; at = end) {
        long child = strtol(at, &end, 10);
        if (end == at || *end != ' ')
            break;
        if (child != self && !is_recorded(child))
            return false;
    }
    return true;
}
