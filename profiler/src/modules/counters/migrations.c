#include "migrations.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../sampling/sampling.h"
#include "../../system/spin.h"
#include "../../system/system_call.h"

enum { PATH_BYTES = 64, SCHED_BYTES = 4096, ENTRIES_BYTES = 4096 };

/* An entry in the format of getdents64(2). */
struct entry {
    uint64_t inode;
    int64_t next;
    uint16_t bytes;
    uint8_t type;
    char name[];
};

/* Reads /proc/PID/sched, which has a line "se.nr_migrations : N" in every kernel with CONFIG_SCHED_DEBUG. */
static int64_t moves_in(const char *path)
{
    char text[SCHED_BYTES];
    const char *line = slurp(path, text, sizeof text) > 0 ? strstr(text, "se.nr_migrations") : NULL;
    const char *value = line ? strchr(line, ':') : NULL;
    return value ? strtoll(value + 1, NULL, 10) : -1;
}

static int64_t moves_of(const char *thread)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "/proc/self/task/%.20s/sched", thread);
    return moves_in(path);
}

/* Uses system calls, because the C library's functions are wrapped and would be recorded as calls of the
 * program. */
static void read_threads(struct migrations *now)
{
    _Alignas(struct entry) char entries[ENTRIES_BYTES];
    int fd = (int)system_call(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long got = -1;
    *now = (struct migrations){.moves = fd < 0 ? -1 : 0, .threads = -sampling_started_threads()};
    while (fd >= 0 && (got = system_call(SYS_getdents64, fd, entries, sizeof entries)) > 0)
        for (long at = 0; at < got;) {
            const struct entry *entry = (const struct entry *)(entries + at);
            int64_t moves = entry->name[0] == '.' ? 0 : moves_of(entry->name);
            now->threads += entry->name[0] != '.';
            now->moves = moves < 0 || now->moves < 0 ? -1 : now->moves + moves;
            at += entry->bytes;
        }
    if (fd >= 0)
        system_call(SYS_close, fd);
}

/* Reads how often all threads migrated so far. The list of threads is not read in a process of one thread,
 * because the kernel builds it at each opening, which takes twice as long as reading the numbers of one
 * thread. */
void migrations_read(struct migrations *now)
{
    if (*spin_single_threaded)
        *now = (struct migrations){moves_in("/proc/self/sched"), 1 - sampling_started_threads()};
    else
        read_threads(now);
}

int64_t migrations_between(const struct migrations *begin, const struct migrations *end, char *reason,
                           size_t bytes)
{
    *reason = '\0';
    if (begin->moves < 0 || end->moves < 0)
        snprintf(reason, bytes,
                 "this kernel does not show migrations (/proc/self/sched); --hwpc counts them");
    else if (end->threads < begin->threads || end->moves < begin->moves)
        snprintf(reason, bytes,
                 "threads have ended, and the kernel forgot their migrations; --hwpc counts them");
    return *reason ? -1 : end->moves - begin->moves;
}
