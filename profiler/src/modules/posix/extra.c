#include "extra.h"

#include "../../files/names.h"
#include "../../tables/process_table.h"
#include "../io_watch.h"
#include "../timer.h"
#include "posix.h"

struct extra_counts {
    struct spin lock;
    int64_t counts[EXTRAS];
    double seconds, last_end; /* Seconds of the calls that move no bytes, and the end of the last such call;
                               * overlapping times count once. */
    double latest;            /* Seconds by which the latest call increased `seconds`. */
    /* Seconds of the calls of fsync and fdatasync, and the end of the last one; times that overlap count
     * once. */
    double sync_seconds, last_sync;
};

static void count(const struct call *c, struct file *file, enum extra which, bool timed)
{
    struct extra_counts *counts = file && !iolens_paused() ? table_file_state(TABLE_posix_extra, file) : NULL;
    if (!counts)
        return;
    spin_lock(&counts->lock);
    counts->counts[which]++;
    double before = counts->seconds;
    if (timed) {
        timer_add(&counts->seconds, &counts->last_end, c->t0, c->t1);
        counts->latest = counts->seconds - before;
    }
    spin_unlock(&counts->lock);
    if (timed)
        io_watch_call(c, "POSIX", file->id, 0);
}

void extra_leave_out(const struct file *file, double t0, double t1)
{
    struct extra_counts *counts = file ? table_file_state_known(TABLE_posix_extra, file) : NULL;
    if (!counts)
        return;
    spin_lock(&counts->lock);
    if (counts->last_end >= t0 && counts->last_end <= t1) {
        counts->seconds -= counts->latest;
        counts->latest = 0;
    }
    spin_unlock(&counts->lock);
}

void extra_on_path(const struct call *c, int dirfd, const char *path, enum extra which)
{
    char *absolute = iolens_owns_memory() ? path_room_take() : NULL;
    if (absolute && path_absolute(absolute, dirfd, path))
        count(c, names_file(absolute, which == EXTRA_truncates ? NAMES_TARGET : NAMES_LINK), which, true);
    path_room_give(absolute);
}

void extra_on_fd(const struct call *c, int fd, enum extra which)
{
    struct open_file *open = fds_sure(fd);
    count(c, open ? fds_file(open) : NULL, which, true);
}

void extra_on_file(const struct call *c, struct file *file, enum extra which) { count(c, file, which, true); }

void extra_on_sync_open(const struct call *c, struct file *file)
{
    count(c, file, EXTRA_sync_opens, false); /* The POSIX record has the time of the open. */
}

void extra_on_sync(const struct call *c, struct file *file)
{
    struct extra_counts *counts = !iolens_paused() ? table_file_state(TABLE_posix_extra, file) : NULL;
    if (!counts)
        return;
    spin_lock(&counts->lock);
    timer_add(&counts->sync_seconds, &counts->last_sync, c->t0, c->t1);
    spin_unlock(&counts->lock);
}

void extra_on_move(const struct call *c, int from, int64_t from_offset, int to, int64_t to_offset,
                   int64_t bytes, enum extra which)
{
    const int ends[] = {from, to};
    if (bytes < 0)
        return;
    posix_on_read(c, from, bytes, from_offset, true);
    posix_on_write(c, to, bytes, to_offset, true);
    for (int i = 0; i < 2; i++) {
        struct open_file *open = fds_sure(ends[i]);
        count(c, open ? fds_file(open) : NULL, which, false);
    }
}

int64_t extra_place(const off_t *offset, ssize_t moved)
{
    return offset && moved >= 0 ? *offset - moved : POSIX_AT_POSITION;
}

struct row {
    uint64_t file;
    int64_t rank, counts[EXTRAS];
    double seconds, sync_seconds;
};

static const struct column COLUMNS[] = {
    COLUMN(file, "<u8", "record id", "the file or folder, by its id in the name region"),
    COLUMN(rank, "<i8", "rank", "the rank to which these numbers belong"),
#define EXTRA(name, meaning) ELEMENT(counts, EXTRA_##name, name, "<i8", "calls", meaning),
#include "extra.def"
#undef EXTRA
    COLUMN(seconds, "<f8", "s",
           "time in the calls of this row that move no bytes, overlap counted once. The time of an unlink "
           "inside MPI_File_close is in the MPI-IO record instead"),
    COLUMN(sync_seconds, "<f8", "s",
           "time in fsync and fdatasync of this file, overlap counted once. The write time of the POSIX "
           "record includes it, except for calls of several threads that end at the same moment"),
};

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    for (struct file *file = iolens_registry.first; file; file = file->next) {
        const struct extra_counts *counts = table_file_state_known(TABLE_posix_extra, file);
        struct row *row = counts ? buffer_add(rows, sizeof *row) : NULL;
        if (!row)
            continue;
        row->file = file->id;
        row->rank = transport->rank;
        row->seconds = counts->seconds * iolens.timeline.factor;
        row->sync_seconds = counts->sync_seconds * iolens.timeline.factor;
        for (int i = 0; i < EXTRAS; i++)
            row->counts[i] = counts->counts[i];
    }
}

const struct process_table table_posix_extra = {
    .name = "posix_extra",
    .meaning = "Calls of a rank on a file or folder for which Darshan's POSIX record has no counter. The "
               "bytes that sendfile, copy_file_range and splice move are counted in the POSIX record: as "
               "read from one file and written to the other",
    TABLE_ROWS(COLUMNS),
    .recording.file_bytes = sizeof(struct extra_counts),
    .merging.collect = collect,
};
