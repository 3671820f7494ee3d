/* The time that transfers take: computes it with the model, and waits for it. */
#include "emulation.h"

#include <errno.h>
#include <stdatomic.h>
#include <time.h>

#include "sys.h"

/* Longest wait in seconds that is left out: a call may return earlier than the model says by so much. */
#define NAP 1e-3
/* Seconds that every real call may take; only a call that takes longer can count as slower than the model. */
#define REAL_SHARE 5e-4
/* Speed of a disk in bytes per second: a real call may also take the time that its bytes need at this
 * speed. */
#define REAL_SPEED 1e9

/* Time by the model at which this thread's latest call returns. */
static __thread double deadline;

/* Time at which all asynchronous transfers that this thread submitted are complete. */
static __thread double submitted;

static double later(double a, double b) { return a > b ? a : b; }

double emulation_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void sleep_until(double time)
{
    struct timespec until = {.tv_sec = (time_t)time};
    until.tv_nsec = (long)((time - (double)until.tv_sec) * 1e9);
    while (time > emulation_now() && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}

static void settle(void) { sleep_until(deadline); }

static void pace(void)
{
    if (deadline - emulation_now() > NAP)
        settle();
}

/* Waits, within a write, until the next piece begins by the model; only then is that piece charged. Another
 * client that asks for a lock or a target meanwhile is served first. The caller holds the lock of the shared
 * state. */
static void wait_inside(double begin, double end)
{
    if (end - begin <= NAP || end - emulation_now() <= NAP)
        return;
    shared_unlock(emulation.shared);
    sleep_until(end);
    shared_lock(emulation.shared);
}

/* Returns the moment at which a transfer ends by the model. The pieces of a write pass through the client's
 * memory one after another; those of a read are requested at once. An asynchronous transfer does not wait
 * between its pieces. */
static double model(const struct ost_file *file, enum direction direction, off_t offset, int64_t bytes,
                    double begin, bool waits)
{
    struct shared *shared = emulation.shared;
    double end = begin;
    for (int64_t done = 0; done < bytes;) {
        struct ost_piece piece =
            ost_first_piece(&file->layout, shared->params.targets, offset + done, bytes - done);
        struct ost_object *object = shared_object(shared, file->inode, piece.target);
        if (!object)
            break;
        if (direction == OST_READ) {
            end = later(end,
                        ost_read(&shared->params, &shared->state, object, emulation.client, &piece, begin));
        } else {
            if (waits)
                wait_inside(begin, end);
            end = ost_write(&shared->params, &shared->state, object, emulation.client, &piece, end);
        }
        done += piece.bytes;
    }
    return end;
}

/* Adds a call to the accounts. It really took `took` seconds; by the model it lasts from `begin` to `end`. */
static void book(double took, double begin, double end, double began, int64_t bytes)
{
    double allowed = later(end - began, (double)bytes / REAL_SPEED + REAL_SHARE);
    emulation.shared->modelled += end - begin;
    emulation.shared->excess += took > allowed ? took - allowed : 0;
}

/* Charges a transfer and returns the time at which the call would return by the model; the caller decides
 * whether to wait for it. */
static double charge(struct ost_file *file, enum direction direction, off_t offset, int64_t bytes,
                     double began, bool waits)
{
    struct shared *shared = emulation.shared;
    double begin = later(began, deadline), took = emulation_now() - began;
    shared_lock(shared);
    double end = model(file, direction, offset, bytes, begin, waits);
    book(took, begin, end, began, bytes);
    *(direction == OST_WRITE ? &shared->bytes_written : &shared->bytes_read) += bytes;
    if (direction == OST_WRITE)
        shared_account(file->books, offset + bytes);
    shared_unlock(shared);
    if (direction == OST_WRITE)
        atomic_store(&file->written, true);
    return end;
}

/* Charges the transfer that moved the position of a stream's descriptor. */
static void charge_position(int fd, struct ost_file *file, enum direction direction, double began)
{
    off_t from = file->stream_position, to = sys_seek(fd, 0, SEEK_CUR);
    file->stream_position = to;
    if (to > from)
        deadline = charge(file, direction, from, to - from, began, true);
}

void emulation_charge(int fd, enum direction direction, off_t offset, ssize_t bytes, double began)
{
    struct ost_file *file = emulation_current(fd);
    if (!file || bytes <= 0)
        return;
    int error = errno;
    if (offset == HERE && file->stream_position >= 0)
        charge_position(fd, file, direction, began);
    else
        deadline = charge(file, direction, offset == HERE ? sys_seek(fd, 0, SEEK_CUR) - bytes : offset, bytes,
                          began, true);
    pace();
    errno = error;
}

void emulation_charge_open(struct ost_file *file)
{
    struct shared *shared = emulation.shared;
    shared_lock(shared);
    bool creates = file->books && !file->books->opened && file->books->accounted == 0;
    if (file->books)
        file->books->opened = true;
    deadline = ost_metadata(&shared->params, &shared->state, creates ? OST_CREATE : OST_OPEN,
                            file->layout.stripe_count, later(emulation_now(), deadline));
    shared_unlock(shared);
    pace();
}

void emulation_charge_stream(int fd, double began)
{
    struct ost_file *file = emulation_find(fd);
    if (!file || file->stream_position < 0)
        return;
    int error = errno;
    charge_position(fd, file, file->stream_writes ? OST_WRITE : OST_READ, began);
    pace();
    errno = error;
}

void emulation_appending(int fd, double began)
{
    struct ost_file *file = emulation_find(fd);
    struct statx info;
    if (!file || file->stream_position < 0 || !(sys_flags(fd) & O_APPEND))
        return;
    emulation_charge_stream(fd, began);
    if (sys_statx(fd, NULL, &info) == 0)
        file->stream_position = (off_t)info.stx_size;
}

void emulation_moved(int fd)
{
    struct ost_file *file = emulation_find(fd);
    if (file && file->stream_position >= 0)
        file->stream_position = sys_seek(fd, 0, SEEK_CUR);
}

void emulation_submit(int fd, enum direction direction, off_t offset, int64_t bytes)
{
    struct ost_file *file = emulation_current(fd);
    if (file && bytes > 0)
        submitted = later(submitted, charge(file, direction, offset, bytes, emulation_now(), false));
}

void emulation_await(void)
{
    deadline = later(deadline, submitted);
    settle();
}

void emulation_flush(int fd, double began)
{
    struct ost_file *file = emulation_find(fd);
    struct shared *shared = emulation.shared;
    if (!file)
        return;
    int error = errno;
    double begin = later(began, deadline), end = begin, took = emulation_now() - began;
    shared_lock(shared);
    for (int stripe = 0; stripe < file->layout.stripe_count; stripe++) {
        int target = (file->layout.start + stripe) % shared->params.targets;
        struct ost_object *object = shared_object(shared, file->inode, target);
        end = object ? ost_flushed(object, emulation.client, end) : end;
    }
    book(took, begin, end, began, 0);
    shared_unlock(shared);
    deadline = end;
    settle();
    errno = error;
}
