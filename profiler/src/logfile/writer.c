#include "writer.h"

#include <stdio.h>

#include "../runtime/context.h"
#include "../spool/spool.h"
#include "../system/system_call.h"

enum { LARGEST_WRITE = 1 << 30, MOST_JOINED = 1 << 13 };

/* System calls are made directly, because open, pwrite, close and rename are wrapped functions, which other
 * preloaded libraries may wrap as well. */

void writer_fail(struct writer *writer, int error)
{
    if (!writer->error)
        writer->error = error ? error : EIO;
}

static void share(struct writer *writer, int result)
{
    if (result != 0)
        writer_fail(writer, ECOMM);
}

/* Forms the name of the unfinished file, which is equal on all ranks. It contains the creator's process
 * number, so that two programs with the same log name do not write to one file. */
static bool name_partial(struct writer *writer)
{
    size_t size = sizeof writer->partial;
    bool fits = snprintf(writer->partial, size, "%s.%llu.iolens-partial", writer->name.text,
                         (unsigned long long)writer->name.creator) < (int)size;
    if (!fits)
        writer_fail(writer, ENAMETOOLONG);
    return fits;
}

/* Creates the file; follows no link and opens no existing file. */
static int create_partial(const struct writer *writer)
{
    return (int)system_call(SYS_openat, AT_FDCWD, writer->partial,
                            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* Forms the name that the kernel gives the file that is being written. */
static void name_descriptor(int fd, char name[32]) { snprintf(name, 32, "/proc/self/fd/%d", fd); }

/* Creates the file without a name in the folder of the log, so that nothing remains if the process is killed
 * while it writes. Returns -1 if the file system does not support that, or if /proc is missing, which is
 * needed to give the file its name later. */
static int create_unnamed(const struct writer *writer)
{
    char *folder = path_room_take(), name[32];
    if (!folder)
        return -1;
    const char *slash = strrchr(writer->name.text, '/');
    snprintf(folder, PATH_BYTES, "%.*s", slash ? (int)(slash - writer->name.text) : 1,
             slash ? writer->name.text : ".");
    int fd = (int)system_call(SYS_openat, AT_FDCWD, *folder ? folder : "/", O_WRONLY | O_TMPFILE | O_CLOEXEC,
                              0600);
    path_room_give(folder);
    if (fd < 0)
        return -1;
    name_descriptor(fd, name);
    if (system_call(SYS_faccessat, AT_FDCWD, name, F_OK) == 0)
        return fd;
    system_call(SYS_close, fd);
    return -1;
}

/* Gives a file without a name the name of an unfinished file. */
static void give_name(struct writer *writer)
{
    char name[32];
    name_descriptor(writer->fd, name);
    system_call(SYS_unlinkat, AT_FDCWD, writer->partial, 0);
    if (system_call(SYS_linkat, AT_FDCWD, name, AT_FDCWD, writer->partial, AT_SYMLINK_FOLLOW) != 0)
        writer_fail(writer, errno);
}

static bool is_taken(const struct writer *writer)
{
    return system_call(SYS_faccessat, AT_FDCWD, writer->name.text, F_OK) == 0;
}

bool writer_create(struct writer *writer, const struct iolens_transport *transport, const char *name,
                   bool replace)
{
    *writer = (struct writer){.transport = transport, .fd = -1};
    if (transport->rank != 0)
        return true;
    snprintf(writer->name.text, sizeof writer->name.text, "%s", name);
    writer->name.creator = (uint64_t)system_call(SYS_getpid);
    writer->untrusted = path_is_untrusted(name);
    if (writer->untrusted)
        writer_fail(writer, EPERM);
    if (writer->untrusted || !name_partial(writer))
        return true;
    if (!replace && is_taken(writer))
        return false;
    /* The spool must name the file before it exists, or a process that is killed in between leaves it for
     * ever. If an existing log may be replaced, the spool names it later: it would pass for the finished one.
     */
    if (!replace)
        spool_name_log(name);
    /* Other ranks open the file by its name. With a spool, `iolens recover` removes an unfinished file. */
    if (transport->size == 1 && !iolens_spool.header)
        writer->fd = create_unnamed(writer);
    writer->unnamed = writer->fd >= 0;
    if (!writer->unnamed)
        writer->fd = create_partial(writer);
    if (writer->fd < 0 && errno == EEXIST && !replace)
        return false;
    if (writer->fd < 0 && errno == EEXIST && system_call(SYS_unlinkat, AT_FDCWD, writer->partial, 0) == 0)
        writer->fd = create_partial(writer);
    struct stat info;
    if (writer->fd < 0 || file_info_fd(writer->fd, &info) != 0)
        writer_fail(writer, errno);
    else
        writer->name.inode = info.st_ino;
    return true;
}

/* Opens the file that rank 0 made; fails with ESTALE if another file has replaced it since. */
static int open_partial(const struct writer *writer)
{
    struct stat info;
    int fd = (int)system_call(SYS_openat, AT_FDCWD, writer->partial, O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (fd < 0 || (file_info_fd(fd, &info) == 0 && info.st_ino == writer->name.inode))
        return fd;
    system_call(SYS_close, fd);
    errno = ESTALE;
    return -1;
}

void writer_open(struct writer *writer, const struct iolens_transport *transport, uint64_t offset)
{
    writer->offset = offset;
    share(writer, transport->bcast(&writer->name, sizeof writer->name, 0));
    spool_name_log(writer->name.text);
    if (transport->rank == 0 || !name_partial(writer))
        return;
    writer->fd = open_partial(writer);
    if (writer->fd < 0)
        writer_fail(writer, errno);
}

void writer_put(struct writer *writer, uint64_t offset, const void *bytes, size_t count)
{
    const char *at = bytes;
    while (count > 0 && !writer->error) {
        size_t piece = count < LARGEST_WRITE ? count : LARGEST_WRITE;
        ssize_t written = system_call(SYS_pwrite64, writer->fd, at, piece, offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            writer_fail(writer, written < 0 ? errno : ENOSPC);
            return;
        }
        at += written;
        offset += (uint64_t)written;
        count -= (size_t)written;
    }
}

int writer_add(struct writer *writer, const struct buffer *part, bool always)
{
    struct region *region = &writer->region[writer->regions];
    if (part->failed || ((part->used > 0 || always) && !pack_bytes(part, &region->part)))
        writer_fail(writer, ENOMEM);
    return writer->regions++;
}

int writer_add_records(struct writer *writer, struct records *records)
{
    if (!records_close(records, &writer->region[writer->regions].part))
        writer_fail(writer, ENOMEM);
    return writer->regions++;
}

/* Collective. Determines where each region lies in the file, and where this rank's part of each region lies.
 */
static void place(struct writer *writer, const struct iolens_transport *transport,
                  uint64_t before[WRITER_REGIONS])
{
    int64_t total[WRITER_REGIONS];
    size_t regions = (size_t)writer->regions;
    for (size_t i = 0; i < regions; i++)
        total[i] = (int64_t)(before[i] = writer->region[i].part.used);
    share(writer, transport->exscan_sum(before, regions));
    share(writer, transport->allreduce(total, regions, IOLENS_INT64, IOLENS_SUM));
    for (size_t i = 0; i < regions; i++) {
        writer->region[i].span = (struct log_span){total[i] ? writer->offset : 0, (uint64_t)total[i]};
        writer->offset += (uint64_t)total[i];
    }
}

void writer_put_regions(struct writer *writer, const struct iolens_transport *transport)
{
    uint64_t before[WRITER_REGIONS];
    char joined[MOST_JOINED];
    uint64_t begin = 0;
    size_t used = 0;
    place(writer, transport, before);
    for (int i = 0; i < writer->regions; i++) {
        struct buffer *part = &writer->region[i].part;
        uint64_t offset = writer->region[i].span.offset + before[i];
        if (part->used > 0 && (offset != begin + used || part->used > sizeof joined - used)) {
            writer_put(writer, begin, joined, used);
            begin = offset;
            used = 0;
        }
        if (part->used > sizeof joined - used) {
            writer_put(writer, offset, part->data, part->used);
        } else if (part->used > 0) {
            memcpy(joined + used, part->data, part->used);
            used += part->used;
        }
        buffer_free(part);
    }
    writer_put(writer, begin, joined, used);
}

/* Stores the error on which all ranks agreed. A local error may be only the consequence of a skipped step. */
void writer_in_step(struct writer *writer, int error)
{
    if (error)
        writer->error = error;
}

/* Says why there is no log. While spools are read, a failed exchange between ranks (ECOMM) means that a spool
 * is damaged; the recovery says which spool, and goes on without it. */
static void say_failure(const struct writer *writer)
{
    const char *reason = strerror(writer->error);
    if (iolens.lost && writer->error == ECOMM)
        return;
    if (writer->untrusted)
        reason =
            "its path contains a symbolic link of another user, in a folder to which everybody may write";
    if (writer->error == EPROTO)
        reason = "the ranks of the job run with different settings of the profiler";
    if (iolens.lost)
        iolens_say("cannot write the log %s: %s; give `-o FOLDER`, a folder with room to which the job's "
                   "user can write",
                   writer->name.text, reason);
    else if (iolens_spool.header)
        iolens_say("cannot write the log %s: %s; the records are kept in %s: `iolens recover -o FOLDER --job "
                   "%d` makes the log in a folder that has free space and that you can write to",
                   writer->name.text, reason, iolens_spool.path, (int)iolens.pid);
    else
        iolens_say(
            "cannot write the log %s: %s; set IOLENS_LOGPATH to a folder with room to which you can write",
            writer->name.text, reason);
}

bool writer_close(struct writer *writer, mode_t mode)
{
    const struct iolens_transport *transport = writer->transport;
    if (writer->fd >= 0 && transport->rank == 0 && system_call(SYS_fchmod, writer->fd, mode) != 0)
        writer_fail(writer, errno);
    if (writer->unnamed && !writer->error)
        give_name(writer);
    if (writer->fd >= 0 && system_call(SYS_close, writer->fd) != 0)
        writer_fail(writer, errno);
    int64_t culprit = writer->error ? transport->rank : transport->size;
    share(writer, transport->allreduce(&culprit, 1, IOLENS_INT64, IOLENS_MIN));
    if (transport->rank == 0 && culprit == transport->size &&
        system_call(SYS_renameat, AT_FDCWD, writer->partial, AT_FDCWD, writer->name.text) != 0) {
        writer_fail(writer, errno);
        culprit = 0;
    }
    if (transport->rank == 0 && culprit < transport->size && writer->fd >= 0)
        system_call(SYS_unlinkat, AT_FDCWD, writer->partial, 0);
    if (transport->rank == culprit)
        say_failure(writer);
    share(writer, transport->bcast(&culprit, sizeof culprit, 0));
    return culprit == transport->size;
}
