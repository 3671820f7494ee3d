#include "locks.h"

#include <sys/file.h>

#include "../../files/fds.h"
#include "../../tables/process_table.h"
#include "../io_watch.h"
#include "../timer.h"

/* Shortest time in seconds that counts as waiting for a lock: a free lock is granted within microseconds on a
 * local disk, and within a millisecond by a server. */
static const double SHORTEST_WAIT = 0.001;

struct lock_counts {
    struct spin lock;
    int64_t locks, exclusive, refused, waits, unended;
    double seconds, last_end; /* Time spent waiting for locks; times that overlap count once. */
    double longest;
};

enum lock_kind { LOCK_SHARED_KIND, LOCK_EXCLUSIVE_KIND, LOCK_RELEASE_KIND };

static struct file *file_of(int fd)
{
    struct open_file *open = fds_sure(fd);
    return open && !iolens_paused() ? fds_file(open) : NULL;
}

static void add_unended(struct lock_counts *counts, int64_t more)
{
    if (!counts)
        return;
    spin_lock(&counts->lock);
    counts->unended += more;
    spin_unlock(&counts->lock);
}

void locks_before(struct call *c, int fd, bool waits)
{
    struct file *file = waits ? file_of(fd) : NULL;
    c->taken = file ? table_file_state(TABLE_file_locks, file) : NULL;
    add_unended(c->taken, 1);
}

static void count(const struct call *c, int result, int fd, enum lock_kind kind)
{
    int error = result == 0 ? 0 : *errno_place();
    struct file *file = file_of(fd);
    struct lock_counts *counts = file ? table_file_state(TABLE_file_locks, file) : NULL;
    if (!counts)
        return;
    double seconds = c->t1 - c->t0;
    spin_lock(&counts->lock);
    if (error == 0 && kind != LOCK_RELEASE_KIND) {
        counts->locks++;
        counts->exclusive += kind == LOCK_EXCLUSIVE_KIND;
    }
    counts->refused += error == EAGAIN || error == EACCES;
    counts->waits += seconds > SHORTEST_WAIT;
    counts->longest = seconds > counts->longest ? seconds : counts->longest;
    timer_add(&counts->seconds, &counts->last_end, c->t0, c->t1);
    spin_unlock(&counts->lock);
    if (seconds > SHORTEST_WAIT)
        io_watch_call(c, "LOCKS", file->id, 0);
}

static bool is_lock_command(int command)
{
    return command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;
}

bool locks_fcntl_waits(int command) { return command == F_SETLKW || command == F_OFD_SETLKW; }

bool locks_flock_waits(int operation) { return !(operation & (LOCK_NB | LOCK_UN)); }

bool locks_lockf_waits(int command) { return command == F_LOCK; }

void locks_on_fcntl(const struct call *c, int result, int fd, int command, intptr_t value)
{
    add_unended(c->taken, -1);
    if (!is_lock_command(command) || (result != 0 && *errno_place() == EFAULT))
        return;
    /* If the kernel took or released a lock, the address of the structure flock is valid; after a failure it
     * may not be. */
    short type = result == 0 ? ((const struct flock *)value)->l_type : F_UNLCK;
    count(c, result, fd,
          type == F_UNLCK   ? LOCK_RELEASE_KIND
          : type == F_WRLCK ? LOCK_EXCLUSIVE_KIND
                            : LOCK_SHARED_KIND);
}

void locks_on_flock(const struct call *c, int result, int fd, int operation)
{
    add_unended(c->taken, -1);
    count(c, result, fd,
          operation & LOCK_UN   ? LOCK_RELEASE_KIND
          : operation & LOCK_EX ? LOCK_EXCLUSIVE_KIND
                                : LOCK_SHARED_KIND);
}

void locks_on_lockf(const struct call *c, int result, int fd, int command)
{
    add_unended(c->taken, -1);
    if (command != F_TEST)
        count(c, result, fd, command == F_ULOCK ? LOCK_RELEASE_KIND : LOCK_EXCLUSIVE_KIND);
}

struct row {
    uint64_t file;
    int64_t rank, locks, exclusive, refused, waits, unended;
    double seconds, longest;
};

static const struct column COLUMNS[] = {
    COLUMN(file, "<u8", "record id", "the file, by its id in the name region"),
    COLUMN(rank, "<i8", "rank", "the rank to which these numbers belong"),
    COLUMN(locks, "<i8", "calls", "calls that got a lock"),
    COLUMN(exclusive, "<i8", "calls", "calls that got a lock for writing, which excludes all other locks"),
    COLUMN(refused, "<i8", "calls", "calls that found the lock taken and did not wait for it"),
    COLUMN(waits, "<i8", "calls", "calls that took longer than 1 ms, to take or to release a lock"),
    COLUMN(unended, "<i8", "calls",
           "calls that waited for a lock when the process was killed, or when a snapshot of it was taken; "
           "their time is not known"),
    COLUMN(seconds, "<f8", "s", "time in calls that take or release locks, overlap counted once"),
    COLUMN(longest, "<f8", "s", "time of the longest call that took or released a lock"),
};

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    for (struct file *file = iolens_registry.first; file; file = file->next) {
        const struct lock_counts *counts = table_file_state_known(TABLE_file_locks, file);
        if (!counts)
            continue;
        struct row row = {
            .file = file->id,
            .rank = transport->rank,
            .locks = counts->locks,
            .exclusive = counts->exclusive,
            .refused = counts->refused,
            .waits = counts->waits,
            .unended = iolens.lost ? counts->unended : 0,
            .seconds = counts->seconds * iolens.timeline.factor,
            .longest = counts->longest * iolens.timeline.factor,
        };
        buffer_put(rows, &row, sizeof row);
    }
}

/* Returns true if this process waited for a lock, which makes its log worth keeping: a program such as
 * flock(1) does nothing else, on a descriptor that it inherited. */
static bool matters(void)
{
    for (struct file *file = iolens_registry.first; file; file = file->next)
        if (table_file_state_known(TABLE_file_locks, file))
            return true;
    return false;
}

const struct process_table table_file_locks = {
    .name = "file_locks",
    .meaning = "Locks of a rank on a file: by fcntl (POSIX and open file description locks), flock and lockf",
    TABLE_ROWS(COLUMNS),
    .recording.file_bytes = sizeof(struct lock_counts),
    .recording.matters = matters,
    .merging.collect = collect,
};
