#include "extra.h"

#include "../core/table.h"
#include "posix.h"
#include "timer.h"

static struct extra_counts *counts_of(struct file *file)
{
    void *counts = file->extra, *fresh;
    if (counts)
        return counts;
    fresh = arena_alloc(&iolens.arena, sizeof(struct extra_counts));
    if (!fresh || atomic_compare_exchange_strong(&file->extra, &counts, fresh))
        return fresh;
    return counts;
}

static void count(const struct call *c, struct file *file, enum extra which, bool timed)
{
    struct extra_counts *counts = file ? counts_of(file) : NULL;
    if (!counts)
        return;
    spin_lock(&counts->lock);
    counts->counts[which]++;
    if (timed)
        timer_add(&counts->seconds, &counts->last_end, c->t0, c->t1);
    spin_unlock(&counts->lock);
}

void extra_on_path(const struct call *c, int dirfd, const char *path, enum extra which)
{
    char absolute[PATH_BYTES];
    if (iolens_owns_memory() && path_absolute(absolute, dirfd, path))
        count(c, names_file(absolute, which == EXTRA_truncates ? NAMES_TARGET : NAMES_LINK), which, true);
}

void extra_on_fd(const struct call *c, int fd, enum extra which)
{
    struct open_file *open = fds_find(fd);
    count(c, open ? fds_file(open) : NULL, which, true);
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
        struct open_file *open = fds_find(ends[i]);
        count(c, open ? fds_file(open) : NULL, which, false);
    }
}

int64_t extra_place(const off_t *offset) { return offset ? *offset : POSIX_AT_POSITION; }

struct row {
    uint64_t file;
    int64_t rank, counts[EXTRAS];
    double seconds;
};

static const struct column COLUMNS[] = {
    {"file", "<u8", "record id", "the file or folder, as in the name region", offsetof(struct row, file), 8},
    {"rank", "<i8", "rank", "the rank that these numbers are of", offsetof(struct row, rank), 8},
#define EXTRA(name, meaning)                                                                                 \
    {#name, "<i8", "calls", meaning, offsetof(struct row, counts) + EXTRA_##name * sizeof(int64_t), 8},
#include "extra.def"
#undef EXTRA
    {"seconds", "<f8", "s", "time in the calls of this row that move no bytes, overlap counted once",
     offsetof(struct row, seconds), 8},
};

void extra_table_write(const struct iolens_transport *transport, struct buffer *out)
{
    struct buffer rows = {0};
    for (struct file *file = iolens.registry.first; file; file = file->next) {
        const struct extra_counts *counts = file->extra;
        struct row *row = counts ? buffer_add(&rows, sizeof *row) : NULL;
        if (!row)
            continue;
        row->file = file->id;
        row->rank = transport->rank;
        row->seconds = counts->seconds;
        for (int i = 0; i < EXTRAS; i++)
            row->counts[i] = counts->counts[i];
    }
    out->failed |= rows.failed;
    table_write(out, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS, rows.data, sizeof(struct row),
                rows.used / sizeof(struct row));
    buffer_free(&rows);
}
