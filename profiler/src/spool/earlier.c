#include <stdio.h>
#include <sys/mman.h>

#include "../runtime/context.h"
#include "../system/system_call.h"
#include "spool.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

static bool read_at(int fd, void *into, size_t bytes, size_t offset)
{
    return system_call(SYS_pread64, fd, into, bytes, offset) == (long)bytes;
}

/* Opens a spool that this process made, with whatever program it ran at that time. Returns a descriptor, or
 * -1 if the file is not such a spool of this user. */
static int open_own(const char *path, const struct spool_process *self)
{
    struct stat info;
    struct spool_process other;
    int fd = (int)system_call(SYS_openat, AT_FDCWD, path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (fd < 0 || (file_info_fd(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == file_owner_now() &&
                   read_at(fd, &other, sizeof other, offsetof(struct spool_header, process)) &&
                   memcmp(self, &other, sizeof other) == 0))
        return fd;
    system_call(SYS_close, fd);
    return -1;
}

/* Opens the spool at the first of its possible names that is not taken by another process's spool. Returns a
 * descriptor, or -1. */
static int find(char path[PATH_BYTES], const char *parent)
{
    struct stat info;
    struct spool_process self = {.pid = iolens.pid};
    int stem = snprintf(path, PATH_BYTES, "%s/iolens-%u/", parent, (unsigned)file_owner_now());
    if (stem + SPOOL_NAME_BYTES > PATH_BYTES)
        return -1;
    for (int nth = 0, fd; nth < SPOOL_NAMES; nth++) {
        spool_file_name(path + stem, &self, nth);
        if (file_info_at(AT_FDCWD, path, &info, AT_SYMLINK_NOFOLLOW) != 0)
            return -1;
        if (nth == 0)
            spool_describe_process(&self);
        if ((fd = open_own(path, &self)) >= 0)
            return fd;
    }
    return -1;
}

/* Maps the spool at its original address and returns the result of `worth`; false if it cannot be mapped
 * there. */
static bool ask(int fd, bool (*worth)(const struct spool_header *header, const struct area *area))
{
    struct stat info;
    struct spool_header *header;
    struct {
        uint64_t layout, base;
    } start;
    if (!read_at(fd, &start, sizeof start, offsetof(struct spool_header, layout)) ||
        start.layout != iolens_spool.layout || start.base < SPOOL_FIRST_PLACE ||
        file_info_fd(fd, &info) != 0 || info.st_size < SPOOL_HEADER_BYTES)
        return false;
    size_t bytes = (size_t)info.st_size;
    char *pages =
        (char *)system_call(SYS_mmap, start.base, bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0);
    if (pages == MAP_FAILED)
        return false;
    const struct area area = {pages + SPOOL_HEADER_BYTES, pages + bytes, NULL};
    header = (struct spool_header *)pages;
    bool is_worth = (uint64_t)pages == start.base &&
                    memcmp(header->magic, SPOOL_MAGIC, sizeof header->magic) == 0 && worth(header, &area);
    system_call(SYS_munmap, pages, bytes);
    return is_worth;
}

/* Marks a spool as left by a program that ended just now, by exec. Returns false if the mark cannot be
 * written. */
static bool mark_as_replaced(int fd, struct clock *clock)
{
    const uint32_t replaced = 1;
    const struct {
        uint64_t ticks, ns;
    } end = {clock_ticks(clock), clock_monotonic_ns(clock)};
    return system_call(SYS_pwrite64, fd, &end, sizeof end, offsetof(struct spool_header, beat_ticks)) ==
               (long)sizeof end &&
           system_call(SYS_pwrite64, fd, &replaced, sizeof replaced,
                       offsetof(struct spool_header, replaced)) == (long)sizeof replaced;
}

/* Renames the file: the new name has the program's start in nanoseconds, which differs for each program of a
   process. */
static bool keep(int fd, const char *path)
{
    struct clock clock;
    char name[PATH_BYTES];
    const char *slash = strrchr(path, '/');
    if (!read_at(fd, &clock, sizeof clock, offsetof(struct spool_header, clock)) ||
        !mark_as_replaced(fd, &clock))
        return false;
    snprintf(name, sizeof name, "%.*s/%d-%lld" SPOOL_SUFFIX, (int)(slash - path), path, (int)iolens.pid,
             (long long)clock_start_ns(&clock));
    return system_call(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, name, 0) == 0;
}

static void settle_in(const char *parent, bool (*worth)(const struct spool_header *, const struct area *))
{
    char path[PATH_BYTES];
    int fd = find(path, parent);
    if (fd < 0)
        return;
    if (!ask(fd, worth) || !keep(fd, path))
        system_call(SYS_unlinkat, AT_FDCWD, path, 0);
    system_call(SYS_close, fd);
}

void earlier_settle(bool (*worth)(const struct spool_header *header, const struct area *area))
{
    const char *asked = iolens.settings.spool;
    if (strcmp(asked, "none") == 0)
        return;
    if (*asked) {
        settle_in(asked, worth);
        return;
    }
    for (size_t i = 0; i < SPOOL_FOLDERS; i++)
        settle_in(spool_folders[i], worth);
}
