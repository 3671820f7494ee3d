#include "emulation.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sys.h"

#define DESCRIPTORS 65536
#define NAP         1e-3 /* seconds of debt below which a call does not sleep */
#define REAL_SHARE  5e-4 /* seconds that any real call may take */

static struct {
    bool asked, on;
    pid_t pid;
    char mount[PATH_MAX];
    const char *job;
    int client;
    struct shared *shared;
    struct ost_file *_Atomic files[DESCRIPTORS];
} emulation;

/* When this thread's latest call returns by the model. */
static __thread double deadline;

/* When everything that was submitted asynchronously is complete. */
static __thread double submitted;

double emulation_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int rank_of_process(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            return atoi(getenv(names[i]));
    return 0;
}

static void report(void)
{
    if (emulation.on && emulation.pid == getpid())
        shared_report(emulation.shared, emulation.mount, emulation.job);
}

__attribute__((constructor)) static void start(void)
{
    const char *mount = getenv("OST_MOUNT"), *config = getenv("OST_CONFIG");
    char problem[PATH_MAX + 320] = "";
    emulation.job = getenv("OST_JOB");
    if (!mount || !config || !emulation.job)
        return;
    emulation.asked = true;
    if (!realpath(mount, emulation.mount))
        snprintf(problem, sizeof problem, "%s: %s", mount, strerror(errno));
    else
        emulation.shared = shared_open(emulation.mount, emulation.job, config, problem, sizeof problem);
    if (!emulation.shared) {
        dprintf(STDERR_FILENO, "libost: storage is not emulated: %s\n", problem);
        return;
    }
    emulation.client = rank_of_process() / emulation.shared->params.ranks_per_client;
    if (emulation.client >= OST_MAX_CLIENTS) {
        emulation.shared->faults |= 1u << FAULT_CLIENTS;
        emulation.client %= OST_MAX_CLIENTS;
    }
    emulation.pid = getpid();
    emulation.on = true;
    atexit(report);
}

bool emulation_on(void) { return emulation.on; }

struct ost_file *emulation_find(int fd)
{
    if (fd < 0 || fd >= DESCRIPTORS)
        return NULL;
    return atomic_load_explicit(&emulation.files[fd], memory_order_acquire);
}

/* True when `path` is the mount point or lies below it, but not in its state folder. */
static bool below_mount(const char *path)
{
    size_t length = strlen(emulation.mount);
    if (strncmp(path, emulation.mount, length) != 0 || (path[length] && path[length] != '/'))
        return false;
    return strncmp(path + length, "/.ost/", 6) != 0 && strcmp(path + length, "/.ost") != 0;
}

static bool path_of(int fd, char *path, size_t room)
{
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, room - 1);
    if (length < 0)
        return false;
    path[length] = '\0';
    return true;
}

struct ost_file *emulation_opened(int fd, bool fresh)
{
    char path[PATH_MAX];
    struct statx info;
    if (!emulation.on || fd < 0 || fd >= DESCRIPTORS || !path_of(fd, path, sizeof path) ||
        !below_mount(path) || sys_statx(fd, NULL, &info) != 0 || !S_ISREG(info.stx_mode))
        return NULL;
    struct ost_file *file = calloc(1, sizeof *file);
    if (!file)
        return NULL;
    file->inode = info.stx_ino;
    file->layout = layout_of_file(emulation.mount, path, info.stx_ino, fresh, &emulation.shared->params);
    file->accounted = (int64_t)info.stx_size;
    file->stream_position = -1;
    file->descriptors = 1;
    atomic_store_explicit(&emulation.files[fd], file, memory_order_release);
    return file;
}

void emulation_duplicated(int from, int to)
{
    struct ost_file *file = emulation_find(from);
    if (to < 0 || to >= DESCRIPTORS || from == to)
        return;
    if (file)
        atomic_fetch_add(&file->descriptors, 1);
    atomic_store_explicit(&emulation.files[to], file, memory_order_release);
}

/* Advance an account of bytes from the start of the file; other ranks' accounts are not seen, so the largest
 * end counts. */
static void account(struct ost_file *file, int64_t end)
{
    int64_t known = atomic_load(&file->accounted);
    while (end > known && !atomic_compare_exchange_weak(&file->accounted, &known, end))
        ;
}

static void pace(void)
{
    if (deadline - emulation_now() > NAP)
        emulation_settle();
}

void emulation_settle(void)
{
    struct timespec until = {.tv_sec = (time_t)deadline};
    until.tv_nsec = (long)((deadline - (double)until.tv_sec) * 1e9);
    while (deadline > emulation_now() &&
           clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}

static double later(double a, double b) { return a > b ? a : b; }

/* Pieces of a write follow each other through the client's memory; those of a read are asked for at once. */
static double model(const struct ost_file *file, enum direction direction, off_t offset, int64_t bytes,
                    double begin)
{
    struct shared *shared = emulation.shared;
    double end = begin;
    for (int64_t done = 0; done < bytes;) {
        struct ost_piece piece =
            ost_first_piece(&file->layout, shared->params.targets, offset + done, bytes - done);
        struct ost_object *object = shared_object(shared, file->inode, piece.target);
        if (!object)
            break;
        if (direction == OST_WRITE)
            end = ost_write(&shared->params, &shared->state, object, emulation.client, &piece, end);
        else
            end = later(end,
                        ost_read(&shared->params, &shared->state, object, emulation.client, &piece, begin));
        done += piece.bytes;
    }
    return end;
}

/* Returns when the call would return; the caller decides whether anybody waits for it. */
static double charge(struct ost_file *file, enum direction direction, off_t offset, int64_t bytes,
                     double began)
{
    struct shared *shared = emulation.shared;
    double took = emulation_now() - began;
    double begin = later(began, deadline);
    shared_lock(shared);
    double end = model(file, direction, offset, bytes, begin);
    double allowed = later(end - began, (double)bytes / 1e9 + REAL_SHARE);
    shared->modelled += end - begin;
    shared->excess += took > allowed ? took - allowed : 0;
    *(direction == OST_WRITE ? &shared->bytes_written : &shared->bytes_read) += bytes;
    shared_unlock(shared);
    if (direction == OST_WRITE) {
        atomic_store(&file->written, true);
        account(file, offset + bytes);
    }
    return end;
}

void emulation_charge(int fd, enum direction direction, off_t offset, ssize_t bytes, double began)
{
    struct ost_file *file = emulation_find(fd);
    if (!file || bytes <= 0)
        return;
    int error = errno;
    if (offset < 0) /* the call moved the descriptor's own position */
        offset = sys_seek(fd, 0, SEEK_CUR) - bytes;
    deadline = charge(file, direction, offset, bytes, began);
    pace();
    errno = error;
}

void emulation_submit(int fd, enum direction direction, off_t offset, int64_t bytes)
{
    struct ost_file *file = emulation_find(fd);
    if (file && bytes > 0)
        submitted = later(submitted, charge(file, direction, offset, bytes, emulation_now()));
}

void emulation_await(void)
{
    deadline = later(deadline, submitted);
    emulation_settle();
}

void emulation_charge_stream(int fd, double began)
{
    struct ost_file *file = emulation_find(fd);
    if (!file || file->stream_position < 0)
        return;
    int error = errno;
    off_t position = sys_seek(fd, 0, SEEK_CUR);
    off_t from = file->stream_position;
    file->stream_position = position;
    if (position > from)
        deadline = charge(file, file->stream_writes ? OST_WRITE : OST_READ, from, position - from, began);
    pace();
    errno = error;
}

void emulation_size_set(int fd, off_t size)
{
    struct ost_file *file = emulation_find(fd);
    if (file)
        account(file, size);
}

void emulation_mapped(int fd, bool writable)
{
    if (emulation_find(fd) && writable)
        emulation.shared->faults |= 1u << FAULT_MAPPED;
}

/* A file that one process wrote alone must not be longer than what was charged. */
static void balance(int fd, const struct ost_file *file)
{
    struct statx info;
    bool alone = atomic_load(&file->written) || file->stream_position >= 0;
    if (!alone || sys_statx(fd, NULL, &info) != 0)
        return;
    shared_lock(emulation.shared);
    int64_t charged = emulation.shared->bytes_written;
    if ((int64_t)info.stx_size > atomic_load(&file->accounted) && (int64_t)info.stx_size > charged)
        emulation.shared->faults |= 1u << FAULT_UNCHARGED;
    shared_unlock(emulation.shared);
}

void emulation_closing(int fd)
{
    struct ost_file *file = emulation_find(fd);
    if (!file)
        return;
    int error = errno;
    emulation_charge_stream(fd, emulation_now());
    balance(fd, file);
    if (emulation.shared->params.flush_on_close && atomic_load(&file->written))
        emulation_flush();
    atomic_store_explicit(&emulation.files[fd], NULL, memory_order_release);
    if (atomic_fetch_sub(&file->descriptors, 1) == 1)
        free(file);
    errno = error;
}

void emulation_flush(void)
{
    struct shared *shared = emulation.shared;
    double begin = later(emulation_now(), deadline);
    shared_lock(shared);
    deadline = ost_flushed(&shared->params, &shared->state, emulation.client, begin);
    shared->modelled += deadline - begin;
    shared_unlock(shared);
    emulation_settle();
}

ssize_t emulation_layout(int fd, const char *path, void *value, size_t room)
{
    char resolved[PATH_MAX];
    struct statx info;
    if (!emulation.on || (path ? !realpath(path, resolved) : !path_of(fd, resolved, sizeof resolved)) ||
        !below_mount(resolved) || sys_statx(AT_FDCWD, resolved, &info) != 0)
        return -1;
    const struct ost_params *params = &emulation.shared->params;
    bool directory = S_ISDIR(info.stx_mode);
    struct ost_layout layout = directory
                                   ? layout_of_directory(emulation.mount, resolved, params)
                                   : layout_of_file(emulation.mount, resolved, info.stx_ino, false, params);
    size_t bytes = layout_encode(&layout, info.stx_ino, directory, params->targets, value, room);
    if (room > 0 && room < bytes)
        errno = ERANGE;
    return room > 0 && room < bytes ? -ERANGE : (ssize_t)bytes;
}
