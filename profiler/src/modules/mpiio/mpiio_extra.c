#include "../../files/names.h"
#include "../../files/registry.h"
#include "../../runtime/wrap.h"
#include "../../tables/process_table.h"
#include "mpiio.h"

/* Numbers of calls on one file. */
struct mpiio_extra {
    struct spin lock;
    int64_t calls[IOLENS_MPIIO_EXTRAS];
    double seconds[IOLENS_MPIIO_EXTRAS];
};

static void add(struct file *file, enum iolens_mpiio_extra which, double seconds)
{
    struct mpiio_extra *extra = file && !iolens_paused() ? table_file_state(TABLE_mpiio_extra, file) : NULL;
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
    COLUMN(file, "<u8", "record id", "the file, by its id in the name region"),
    COLUMN(rank, "<i8", "rank", "the rank to which these numbers belong"),
#define MPIIO_EXTRA(name, meaning) ELEMENT(calls, IOLENS_MPIIO_##name, name, "<i8", "calls", meaning),
#include "../../mpiio_extra.def"
#undef MPIIO_EXTRA
#define MPIIO_EXTRA(name, meaning)                                                                           \
    ELEMENT(seconds, IOLENS_MPIIO_##name, name##_seconds, "<f8", "s", "time in the calls of `" #name "`"),
#include "../../mpiio_extra.def"
#undef MPIIO_EXTRA
};

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    for (struct file *file = iolens_registry.first; file; file = file->next) {
        const struct mpiio_extra *extra = table_file_state_known(TABLE_mpiio_extra, file);
        struct row *row = extra ? buffer_add(rows, sizeof *row) : NULL;
        if (!row)
            continue;
        row->file = file->id;
        row->rank = transport->rank;
        memcpy(row->calls, extra->calls, sizeof row->calls);
        for (int i = 0; i < IOLENS_MPIIO_EXTRAS; i++)
            row->seconds[i] = extra->seconds[i] * iolens.timeline.factor;
    }
}

const struct process_table table_mpiio_extra = {
    .name = "mpiio_extra",
    .meaning = "MPI-IO calls of a rank on a file that Darshan's record has no slot for, and the time in them",
    TABLE_ROWS(COLUMNS),
    .recording.file_bytes = sizeof(struct mpiio_extra),
    .merging.collect = collect,
};
