#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../system/system_call.h"
#include "identity.h"

void origin_begin(struct origin *origin)
{
    *origin = (struct origin){.pid = system_call(SYS_getpid), .ancestors = {system_call(SYS_getppid)}};
}

/* Fields 3 and 4 of /proc/<pid>/stat are its state and its parent. */
int64_t origin_parent(int64_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    if (slurp(path, text, sizeof text) == 0)
        return 0;
    const char *field =
        strrchr(text, ')'); /* The search begins after the name, which may contain any character. */
    return field && strlen(field) > 4 ? strtoll(field + 4, NULL, 10) : 0;
}

void origin_follow(struct origin *origin)
{
    for (int i = 1; i < ANCESTORS && origin->ancestors[i - 1] > 1 && !origin->ancestors[i]; i++)
        origin->ancestors[i] = origin_parent(origin->ancestors[i - 1]);
}

enum { PATH_ROOM = 64, CHUNK = 8192, LONGEST_WORD = 32, CHILDREN = 16384, MOST_SHELLS = 3 };

static int open_of(long process, const char *file)
{
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "/proc/%ld/%s", process, file);
    return (int)system_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
}

/* Sets found[i] if the file contains words[i], a text of at most LONGEST_WORD bytes. Zeros in the file are
 * read as spaces. Returns false if the file cannot be read. */
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

/* Returns true if the other process has an environment variable whose name ends in `end` and whose value is
 * `value`. Returns `otherwise` if that cannot be found out. */
static bool shares(long process, const char *end, const char *value, bool otherwise)
{
    char word[LONGEST_WORD];
    const char *const words[] = {word};
    bool same = false;
    if (!value || snprintf(word, sizeof word, "%s=%s ", end, value) >= (int)sizeof word)
        return otherwise;
    return find_words(process, "environ", 1, words, &same) ? same : otherwise;
}

/* Returns true if the other process belongs to this job by its PMIx namespace; one daemon may start several
 * jobs. Returns `otherwise` if that cannot be found out. */
static bool is_of_this_job(long process, bool otherwise)
{
    return shares(process, "SPACE", getenv("PMIX_NAMESPACE"), otherwise);
}

/* Returns true if the process belongs to this job. MPICH's launcher does not name the job; under it, the
 * process must belong to this rank. */
static bool is_of_this_rank(long process)
{
    return is_of_this_job(process, false) || shares(process, "PMI_RANK", getenv("PMI_RANK"), false);
}

/* Returns the process that launched this rank: the nearest ancestor that is not itself a process of this job.
 * A shell that started this rank counts as a process of the job. */
static long launcher(void)
{
    long process = system_call(SYS_getppid);
    for (int shells = 0; shells < MOST_SHELLS && process > 1 && is_of_this_rank(process); shells++)
        process = (long)origin_parent(process);
    return process;
}

static bool are_recorded_below(long process, int shells);

/* Returns false if a process, or one that it started, uses MPI without being recorded. The children of a
 * process without MPI are looked at because it may be a shell that started a rank. */
static bool is_recorded(long process, int shells)
{
    static const char *const words[] = {"/libmpi", "/libiolens.so"};
    enum { MPI, RECORDER, WORDS };
    bool found[WORDS] = {false};
    bool readable = find_words(process, "maps", WORDS, words, found);
    if (!found[MPI])
        return !readable || shells == 0 || are_recorded_below(process, shells - 1);
    return found[RECORDER] || !is_of_this_job(process, true);
}

static bool are_recorded_below(long process, int shells)
{
    char path[PATH_ROOM], text[CHILDREN], *end = text;
    long self = system_call(SYS_getpid);
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", process, process);
    size_t bytes = slurp(path, text, sizeof text);
    for (char *at = text; bytes > 0; at = end) {
        long child = strtol(at, &end, 10);
        if (end == at || *end != ' ')
            break;
        if (child != self && !is_recorded(child, shells))
            return false;
    }
    return true;
}

bool neighbours_are_recorded(void) { return are_recorded_below(launcher(), MOST_SHELLS); }
