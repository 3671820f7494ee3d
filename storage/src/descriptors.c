/* The context of the process, and the table of its descriptors below the mount point. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulation.h"
#include "sys.h"

#define DESCRIPTORS 65536

struct emulation emulation;

static struct ost_file *_Atomic files[DESCRIPTORS];

static int rank_of_process(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            return atoi(getenv(names[i]));
    return 0;
}

static void forked(void) { emulation.pid = getpid(); }

struct ost_file *emulation_find(int fd)
{
    if (fd < 0 || fd >= DESCRIPTORS)
        return NULL;
    return atomic_load_explicit(&files[fd], memory_order_acquire);
}

/* Returns true if this process may change the table for this descriptor. */
static bool ours(int fd) { return emulation.on && fd >= 0 && fd < DESCRIPTORS && getpid() == emulation.pid; }

/* Returns true if `path` is the mount point or lies below it, but not in its state folder. */
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

static struct ost_file *adopt(int fd)
{
    char path[PATH_MAX];
    struct statx info;
    if (!path_of(fd, path, sizeof path) || !below_mount(path) || sys_statx(fd, NULL, &info) != 0 ||
        !S_ISREG(info.stx_mode))
        return NULL;
    struct ost_file *file = calloc(1, sizeof *file);
    if (!file)
        return NULL;
    file->inode = info.stx_ino;
    file->layout = layout_of_file(emulation.mount, path, &info, &emulation.shared->params);
    shared_lock(emulation.shared);
    file->books = shared_file(emulation.shared, info.stx_ino, (int64_t)info.stx_size);
    shared_unlock(emulation.shared);
    file->stream_position = -1;
    file->descriptors = 1;
    return file;
}

static struct ost_file *enter(int fd)
{
    struct ost_file *file = ours(fd) ? adopt(fd) : NULL;
    if (ours(fd))
        atomic_store_explicit(&files[fd], file, memory_order_release);
    return file;
}

/* Forgets the file of a descriptor that the program has closed unseen. */
static void leave(int fd)
{
    struct ost_file *file = atomic_exchange(&files[fd], NULL);
    if (file && atomic_fetch_sub(&file->descriptors, 1) == 1)
        free(file);
}

struct ost_file *emulation_current(int fd)
{
    struct ost_file *file = emulation_find(fd);
    struct statx info;
    if (!file || !ours(fd) ||
        (sys_statx(fd, NULL, &info) == 0 && S_ISREG(info.stx_mode) && info.stx_ino == file->inode))
        return file;
    leave(fd);
    return enter(fd);
}

void emulation_opened(int fd)
{
    int error = errno;
    struct ost_file *file = enter(fd);
    if (file && emulation.shared->params.metadata_threads > 0)
        emulation_charge_open(file);
    errno = error;
}

void emulation_duplicated(int from, int to)
{
    struct ost_file *file = emulation_find(from);
    if (!ours(to) || from == to)
        return;
    if (file)
        atomic_fetch_add(&file->descriptors, 1);
    atomic_store_explicit(&files[to], file, memory_order_release);
    if (to < 3)
        emulation_streams(to);
}

void emulation_streams(int fd)
{
    struct ost_file *file = emulation_find(fd);
    if (!file || file->stream_position >= 0)
        return;
    file->stream_position = sys_seek(fd, 0, SEEK_CUR);
    file->stream_writes = (sys_flags(fd) & O_ACCMODE) != O_RDONLY;
}

bool emulation_has_streams(void)
{
    for (int fd = 0; fd < DESCRIPTORS; fd++)
        if (emulation_find(fd) && emulation_find(fd)->stream_position >= 0)
            return true;
    return false;
}

/* Finds emulated files among the descriptors that are open when the program starts, as after a redirection by
 * a shell. Most programs use the standard descriptors through stdio, so these are charged as streams. */
static void inherit(void)
{
    for (int fd = 0; fd < 256; fd++)
        enter(fd);
    for (int fd = 0; fd < 3; fd++)
        emulation_streams(fd);
}

bool emulation_start(void)
{
    const char *mount = getenv("OST_MOUNT"), *config = getenv("OST_CONFIG");
    char problem[PATH_MAX + 320] = "";
    emulation.job = getenv("OST_JOB");
    if (!mount || !config || !emulation.job)
        return false;
    if (!realpath(mount, emulation.mount))
        snprintf(problem, sizeof problem, "%s: %s", mount, strerror(errno));
    else
        emulation.shared = shared_open(emulation.mount, emulation.job, config, problem, sizeof problem);
    if (!emulation.shared) {
        dprintf(STDERR_FILENO, "libost: storage is not emulated: %s\n", problem);
        return false;
    }
    emulation.client = rank_of_process() / emulation.shared->params.ranks_per_client;
    if (emulation.client < 0 || emulation.client >= OST_MAX_CLIENTS) {
        emulation.shared->faults |= 1u << FAULT_CLIENTS;
        emulation.client = (int)((unsigned)emulation.client % OST_MAX_CLIENTS);
    }
    const char *as_lustre = getenv("OST_AS_LUSTRE");
    emulation.as_lustre = as_lustre && strcmp(as_lustre, "1") == 0;
    emulation.pid = getpid();
    pthread_atfork(NULL, NULL, forked);
    emulation.on = true;
    inherit();
    return true;
}

/* Compares the file's length with the bytes that were charged for it. */
static void balance(int fd, const struct ost_file *file)
{
    struct statx info;
    if (!file->books || sys_statx(fd, NULL, &info) != 0)
        return;
    shared_lock(emulation.shared);
    if ((int64_t)info.stx_size > file->books->seen)
        file->books->seen = (int64_t)info.stx_size;
    shared_unlock(emulation.shared);
}

void emulation_closing(int fd)
{
    struct ost_file *file = emulation_find(fd);
    if (!file || !ours(fd))
        return;
    int error = errno;
    emulation_charge_stream(fd, emulation_now());
    balance(fd, file);
    if (emulation.shared->params.flush_on_close && atomic_load(&file->written))
        emulation_flush(fd, emulation_now());
    atomic_store_explicit(&files[fd], NULL, memory_order_release);
    if (atomic_fetch_sub(&file->descriptors, 1) == 1)
        free(file);
    errno = error;
}

void emulation_closing_range(unsigned first, unsigned last)
{
    for (unsigned fd = first; fd <= last && fd < DESCRIPTORS; fd++)
        emulation_closing((int)fd);
}

void emulation_finish(void)
{
    emulation_closing_range(0, DESCRIPTORS - 1);
    shared_report(emulation.shared, emulation.mount, emulation.job);
}

void emulation_size_set(int fd, off_t size)
{
    struct ost_file *file = emulation_find(fd);
    if (!file)
        return;
    shared_lock(emulation.shared);
    shared_account(file->books, size);
    shared_unlock(emulation.shared);
}

void emulation_path_size_set(const char *path, off_t size)
{
    char resolved[PATH_MAX];
    struct statx info;
    if (!realpath(path, resolved) || !below_mount(resolved) || sys_statx(AT_FDCWD, resolved, &info) != 0)
        return;
    shared_lock(emulation.shared);
    shared_account(shared_file(emulation.shared, info.stx_ino, (int64_t)info.stx_size), size);
    shared_unlock(emulation.shared);
}

void emulation_mapped(int fd)
{
    if (emulation_find(fd))
        emulation.shared->faults |= 1u << FAULT_MAPPED;
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
    struct ost_layout layout = directory ? layout_of_directory(emulation.mount, resolved, params)
                                         : layout_of_file(emulation.mount, resolved, &info, params);
    size_t bytes = layout_encode(&layout, info.stx_ino, directory, params->targets, value, room);
    return room > 0 && room < bytes ? -ERANGE : (ssize_t)bytes;
}

bool emulation_holds(int fd)
{
    char path[PATH_MAX];
    return emulation.on && path_of(fd, path, sizeof path) && below_mount(path);
}

bool emulation_holds_path(const char *path)
{
    char resolved[PATH_MAX];
    return emulation.on && realpath(path, resolved) && below_mount(resolved);
}

int emulation_set_layout(int fd, const struct ost_layout *layout)
{
    struct statx info;
    struct ost_file *file = emulation_find(fd);
    if (!emulation_holds(fd) || sys_statx(fd, NULL, &info) != 0)
        return ENOTTY;
    if (!S_ISDIR(info.stx_mode) &&
        (!file || info.stx_size > 0 || (file->books && file->books->accounted > 0)))
        return EEXIST;
    struct ost_layout set = layout_set(emulation.mount, &info, layout, &emulation.shared->params);
    if (file)
        file->layout = set;
    return 0;
}
