#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "compress.h"
#include "context.h"

enum { LARGEST_WRITE = 1 << 30 };

/* System calls directly: open, pwrite, close and rename are wrapped functions, by others too. */

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

/* The same on all ranks. */
static bool name_partial(struct writer *writer)
{
    size_t size = sizeof writer->partial;
    bool fits = snprintf(writer->partial, size, "%s.iolens-partial", writer->name) < (int)size;
    if (!fits)
        writer_fail(writer, ENAMETOOLONG);
    return fits;
}

bool writer_create(struct writer *writer, const struct iolens_transport *transport, const char *name,
                   bool replace)
{
    *writer = (struct writer){.transport = transport, .fd = -1};
    if (transport->rank != 0)
        return true;
    snprintf(writer->name, sizeof writer->name, "%s", name);
    if (!name_partial(writer))
        return true;
    writer->fd = (int)syscall(SYS_openat, AT_FDCWD, writer->partial,
                              O_WRONLY | O_CREAT | O_CLOEXEC | (replace ? O_TRUNC : O_EXCL), 0644);
    if (writer->fd < 0 && errno == EEXIST)
        return false;
    if (writer->fd < 0)
        writer_fail(writer, errno);
    if (writer->fd < 0 || replace || syscall(SYS_faccessat, AT_FDCWD, writer->name, F_OK) != 0)
        return true;
    syscall(SYS_close, writer->fd);
    syscall(SYS_unlinkat, AT_FDCWD, writer->partial, 0);
    return false;
}

void writer_open(struct writer *writer, uint64_t offset)
{
    const struct iolens_transport *transport = writer->transport;
    writer->offset = offset;
    share(writer, transport->bcast(writer->name, sizeof writer->name, 0));
    spool_name_log(writer->name);
    if (transport->rank == 0 || !name_partial(writer))
        return;
    writer->fd = (int)syscall(SYS_openat, AT_FDCWD, writer->partial, O_WRONLY | O_CLOEXEC, 0);
    if (writer->fd < 0)
        writer_fail(writer, errno);
}

void writer_put(struct writer *writer, uint64_t offset, const void *bytes, size_t count)
{
    const char *at = bytes;
    while (count > 0 && !writer->error) {
        size_t piece = count < LARGEST_WRITE ? count : LARGEST_WRITE;
        ssize_t written = syscall(SYS_pwrite64, writer->fd, at, piece, offset);
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
    if (part->failed || ((part->used > 0 || always) && !compress_append(part, &region->part)))
        writer_fail(writer, ENOMEM);
    return writer->regions++;
}

/* Collective. Where every region begins, and where this rank's parts do. */
static void place(struct writer *writer, uint64_t before[WRITER_REGIONS])
{
    const struct iolens_transport *transport = writer->transport;
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

void writer_put_regions(struct writer *writer)
{
    uint64_t before[WRITER_REGIONS];
    place(writer, before);
    for (int i = 0; i < writer->regions; i++) {
        struct region *region = &writer->region[i];
        writer_put(writer, region->span.offset + before[i], region->part.data, region->part.used);
        buffer_free(&region->part);
    }
}

static void say_failure(const struct writer *writer)
{
    const char *reason = strerror(writer->error);
    if (iolens.spool.header)
        iolens_say(
            "cannot write the log %s: %s; the records are kept in %s, and `iolens recover -o FOLDER` makes "
            "the log of them in a folder with room that you can write to",
            writer->name, reason, iolens.spool.path);
    else
        iolens_say(
            "cannot write the log %s: %s; set IOLENS_LOGPATH to a folder with room that you can write to",
            writer->name, reason);
}

bool writer_close(struct writer *writer)
{
    const struct iolens_transport *transport = writer->transport;
    if (writer->fd >= 0 && syscall(SYS_close, writer->fd) != 0)
        writer_fail(writer, errno);
    int64_t culprit = writer->error ? transport->rank : transport->size;
    share(writer, transport->allreduce(&culprit, 1, IOLENS_INT64, IOLENS_MIN));
    if (transport->rank == 0 && culprit == transport->size &&
        syscall(SYS_renameat, AT_FDCWD, writer->partial, AT_FDCWD, writer->name) != 0) {
        writer_fail(writer, errno);
        culprit = 0;
    }
    if (transport->rank == 0 && culprit < transport->size)
        syscall(SYS_unlinkat, AT_FDCWD, writer->partial, 0);
    if (transport->rank == culprit)
        say_failure(writer);
    share(writer, transport->bcast(&culprit, sizeof culprit, 0));
    return culprit == transport->size;
}
