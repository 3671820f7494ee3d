#include "mpiio_extra.h"

#include <fcntl.h>
#include <string.h>

#include "../core/context.h"
#include "../core/table.h"
#include "../core/wrap.h"
#include "mpiio.h"

static struct mpiio_extra *extra_of(struct file *file)
{
    void *extra = file->mpiio_extra, *fresh;
    if (extra)
        return extra;
    fresh = arena_alloc(&iolens.arena, sizeof(struct mpiio_extra));
    if (!fresh || atomic_compare_exchange_strong(&file->mpiio_extra, &extra, fresh))
        return fresh;
    return extra;
}

static void add(struct file *file, enum iolens_mpiio_extra which, double seconds)
{
    struct mpiio_extra *extra = file ? extra_of(file) : NULL;
    if (!extra)
        return;
    spin_lock(&extra->lock);
    extra->calls[which]++;
    extra->seconds[which] += seconds;
    spin_unlock(&extra->lock);
}

IOLENS_EXPORT void iolens_mpiio_other(const struct iolens_mpiio_file *file, enum iolens_mpiio_extra which,
                                      double t0, double t1)
{
    if (file && iolens_active())
        RECORDER(add(registry_find(file->record.base.id), which, t1 - t0));
}

static void add_to_path(const char *path, enum iolens_mpiio_extra which, double seconds)
{
    char absolute[PATH_BYTES];
    if (path_absolute(absolute, AT_FDCWD, path))
        add(names_file(absolute, NAMES_TARGET), which, seconds);
}

IOLENS_EXPORT void iolens_mpiio_other_path(const char *path, enum iolens_mpiio_extra which, double t0,
                                           double t1)
{
    if (path && iolens_active())
        RECORDER(add_to_path(path, which, t1 - t0));
}

struct row {
    uint64_t file;
    int64_t rank, calls[IOLENS_MPIIO_EXTRAS];
    double seconds[IOLENS_MPIIO_EXTRAS];
};

static const struct column COLUMNS[] = {
    COLUMN(file, "<u8", "record id", "the file, as in the name region"),
    COLUMN(rank, "<i8", "rank", "the rank that these numbers are of"),
#define MPIIO_EXTRA(name, meaning)                                                                           \
    {#name, "<i8", "calls", meaning, offsetof(struct row, calls) + IOLENS_MPIIO_##name * sizeof(int64_t), 8},
#include "mpiio_extra.def"
#undef MPIIO_EXTRA
#define MPIIO_EXTRA(name, meaning)                                                                           \
    {#name "_seconds",                                                                                       \
     "<f8",                                                                                                  \
     "s",                                                                                                    \
     "time in them",                                                                                         \
     offsetof(struct row, seconds) + IOLENS_MPIIO_##name * sizeof(double),                                   \
     8},
#include "mpiio_extra.def"
#undef MPIIO_EXTRA
};

void mpiio_extra_table_write(const struct iolens_transport *transport, struct buffer *out)
{
    struct buffer rows = {0};
    for (struct file *file = iolens.registry.first; file; file = file->next) {
        const struct mpiio_extra *extra = file->mpiio_extra;
        struct row *row = extra ? buffer_add(&rows, sizeof *row) : NULL;
        if (!row)
            continue;
        row->file = file->id;
        row->rank = transport->rank;
        memcpy(row->calls, extra->calls, sizeof row->calls);
        memcpy(row->seconds, extra->seconds, sizeof row->seconds);
    }
    out->failed |= rows.failed;
    table_write(out, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS, rows.data, sizeof(struct row),
                rows.used / sizeof(struct row));
    buffer_free(&rows);
}
