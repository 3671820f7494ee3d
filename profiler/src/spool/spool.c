#include "spool.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "../runtime/context.h"
#include "../system/float_state.h"
#include "../system/signals.h"
#include "../system/system_call.h"

struct spool iolens_spool;

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum { TELL_NS = 100000000 };

const char *const spool_folders[SPOOL_FOLDERS] = {"/dev/shm", "/tmp"};

/* System calls are made directly, because open, mmap, close and unlink are wrapped functions that other
 * preloaded libraries may wrap as well. */

/* Opens the folder iolens-<uid> in `parent`; makes it if it is missing, refuses it if others can write to
 * it. Returns a descriptor, or -1 with errno. */
static int open_folder(const char *parent, char *name, size_t size)
{
    struct stat info;
    if (snprintf(name, size, "%s/iolens-%u", parent, (unsigned)file_owner_now()) >= (int)size) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (path_is_untrusted(name)) {
        errno = EPERM;
        return -1;
    }
    if (system_call(SYS_mkdirat, AT_FDCWD, name, 0700) != 0 && errno != EEXIST)
        return -1;
    int fd = (int)system_call(SYS_openat, AT_FDCWD, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (fd < 0 ||
        (file_info_fd(fd, &info) == 0 && info.st_uid == file_owner_now() && (info.st_mode & 077) == 0))
        return fd;
    system_call(SYS_close, fd);
    errno = EPERM;
    return -1;
}

/* Maps `bytes` at the end of the file. They lie in memory behind the existing mapping or, if there is none,
 * at a new place. */
static char *map_more(int fd, size_t bytes)
{
    const struct spool *spool = &iolens_spool;
    int flags = MAP_SHARED | MAP_FIXED_NOREPLACE;
    struct held_signal held = signal_hold(SIGXFSZ);
    long failed = system_call(SYS_fallocate, fd, 0, (off_t)spool->bytes, (off_t)bytes);
    int error = errno;
    signal_release(&held);
    errno = error;
    for (int place = 0; !failed && place < SPOOL_PLACES; place++) {
        char *wanted = (char *)(SPOOL_FIRST_PLACE + (uint64_t)place * SPOOL_PLACE_BYTES);
        if (spool->header)
            wanted = (char *)spool->header + spool->bytes;
        char *pages = (char *)system_call(SYS_mmap, wanted, bytes, PROT_READ | PROT_WRITE, flags, fd,
                                          (off_t)spool->bytes);
        if (pages == wanted)
            return pages;
        if (pages != MAP_FAILED)
            system_call(SYS_munmap, pages, bytes);
        if (spool->header || (pages == MAP_FAILED && errno != EEXIST))
            break;
    }
    return NULL;
}

static const char *keep_text(struct spool_header *header, const char *text)
{
    size_t bytes = text ? strlen(text) + 1 : 0;
    if (!text || bytes > sizeof header->text - header->text_used)
        return NULL;
    char *copy = memcpy(header->text + header->text_used, text, bytes);
    header->text_used += bytes;
    return copy;
}

void spool_describe_process(struct spool_process *process)
{
    char text[1024];
    struct stat info;
    memset(process, 0, sizeof *process);
    process->pid = iolens.pid;
    slurp("/proc/self/stat", text, sizeof text);
    const char *field = strrchr(text, ')'); /* The fields are searched for behind the program's name, which
                                             * may contain any character. */
    for (int i = 2; field && i < 22; i++)
        field = strchr(field + 1, ' ');
    process->start_ticks = field ? strtoll(field, NULL, 10) : 0;
    process->namespace = file_info("/proc/self/ns/pid", &info) == 0 ? info.st_ino : 0;
    slurp("/proc/sys/kernel/random/boot_id", process->boot, sizeof process->boot);
    process->boot[strcspn(process->boot, "\n")] = '\0';
}

static void stamp(struct spool_header *header)
{
    header->beat_ns = clock_monotonic_ns(&iolens.clock);
    header->beat_ticks = clock_ticks(&iolens.clock);
}

static bool no_mount_is_used_yet(const struct mount *mount)
{
    (void)mount;
    return false;
}

static void fill_header(struct spool_header *header)
{
    header->layout = iolens_spool.layout;
    header->base = (uint64_t)(uintptr_t)header;
    header->jobid = iolens.jobid;
    header->fork_parent = iolens.fork_parent;
    header->finalized = iolens.finalized;
    origin_follow(&iolens.origin);
    header->origin = iolens.origin;
    header->clock = iolens.clock;
    memcpy(header->io_component, iolens.io_component, sizeof header->io_component);
    header->rank = -1;
    spool_describe_process(&header->process);
    identity_read(&header->identity, NULL, no_mount_is_used_yet);
    header->identity_hash = identity_hash(&header->identity);
    header->job = (struct spool_job){.pid = iolens.pid, .start_ns = clock_start_ns(&iolens.clock)};
    memcpy(header->job.host, header->identity.host, sizeof header->job.host);
#define SETTING(field, variable, alternative, value, meaning)                                                \
    header->settings.field = keep_text(header, iolens.settings.field);
#include "../runtime/settings.def"
#undef SETTING
    stamp(header);
    memcpy(header->magic, SPOOL_MAGIC, sizeof header->magic);
}

void spool_file_name(char name[SPOOL_NAME_BYTES], const struct spool_process *self, int nth)
{
    int used = snprintf(name, SPOOL_NAME_BYTES, "%d", (int)self->pid);
    if (nth > 0)
        used += snprintf(name + used, SPOOL_NAME_BYTES - (size_t)used, "-%lld", (long long)self->start_ticks);
    if (nth > 1)
        used += snprintf(name + used, SPOOL_NAME_BYTES - (size_t)used, "-%d", nth);
    snprintf(name + used, SPOOL_NAME_BYTES - (size_t)used, SPOOL_SUFFIX);
}

/* Creates the file of the spool under the first free name, and returns its descriptor. */
static int create_file(int folder, char name[SPOOL_NAME_BYTES])
{
    struct spool_process self = {.pid = iolens.pid};
    int fd = -1;
    errno = EEXIST;
    for (int nth = 0; fd < 0 && errno == EEXIST && nth < SPOOL_NAMES; nth++) {
        if (nth == 1)
            spool_describe_process(&self);
        spool_file_name(name, &self, nth);
        fd = (int)system_call(SYS_openat, folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                              0600);
    }
    return fd;
}

static bool create_in(const char *parent)
{
    struct spool *spool = &iolens_spool;
    char folder[PATH_BYTES - SPOOL_NAME_BYTES], name[SPOOL_NAME_BYTES];
    int where = open_folder(parent, folder, sizeof folder);
    if (where < 0)
        return false;
    int fd = create_file(where, name);
    size_t bytes = SPOOL_HEADER_BYTES + spool->first_slab;
    char *pages = fd >= 0 ? map_more(fd, bytes) : NULL;
    int error = errno;
    if (pages) {
        snprintf(spool->path, sizeof spool->path, "%s/%s", folder, name);
        spool->header = (struct spool_header *)pages;
        spool->bytes = bytes;
        fill_header(spool->header);
    } else if (fd >= 0) {
        system_call(SYS_unlinkat, where, name, 0);
    }
    if (fd >= 0)
        system_call(SYS_close, fd);
    system_call(SYS_close, where);
    errno = error;
    return pages != NULL;
}

void spool_start(uint64_t layout, void (*tell)(void))
{
    iolens_spool.layout = layout;
    iolens_spool.tell = tell;
}

/* Returns true if there is a place for the log. If there is none, a message at the end of the process says
 * so, and no message about the missing spool is needed. */
static bool log_has_a_place(void)
{
    return iolens.settings.logfile ||
           system_call(SYS_faccessat, AT_FDCWD, iolens.settings.logpath, W_OK | X_OK) == 0;
}

/* Creates the spool, or prints a message with the reason why there is none. */
static void create(void)
{
    const char *asked = iolens.settings.spool;
    if (strcmp(asked, "none") == 0)
        return;
    if (*asked ? create_in(asked) : create_in(spool_folders[0]) || create_in(spool_folders[1]))
        return;
    int error = errno;
    if (!log_has_a_place())
        return;
    iolens_say("cannot make a spool in %s: %s; if this process is killed, it leaves no log. Set IOLENS_SPOOL "
               "to another folder, or to none to run without a spool",
               *asked ? asked : "/dev/shm or /tmp", strerror(error));
}

/* Opens the spool's file again, if its path still leads to the same file. */
static int reopen(void)
{
    struct stat info;
    int fd = (int)system_call(SYS_openat, AT_FDCWD, iolens_spool.path, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
    if (fd >= 0 && file_info_fd(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == file_owner_now() &&
        (size_t)info.st_size >= iolens_spool.bytes)
        return fd;
    if (fd >= 0)
        system_call(SYS_close, fd);
    return -1;
}

static void *extend(size_t bytes)
{
    struct spool *spool = &iolens_spool;
    if (!spool->header) {
        spool->first_slab = bytes;
        on_own_stack(create);
        spool->refused = !spool->header;
        return spool->header ? (char *)spool->header + SPOOL_HEADER_BYTES : NULL;
    }
    int fd = reopen();
    char *pages = fd >= 0 ? map_more(fd, bytes) : NULL;
    if (fd >= 0)
        system_call(SYS_close, fd);
    if (pages) {
        spool->bytes += bytes;
    } else {
        spool->header->overflow = 1;
        spool->refused = true;
    }
    return pages;
}

/* Makes the spool longer and returns its new pages; NULL if the system refuses. Callers hold locks, and a
 * remote folder may take long, so this is a long section. SIGXFSZ, which the system may raise, is blocked
 * separately. */
void *spool_extend(size_t bytes)
{
    if (iolens_spool.refused)
        return NULL;
    struct long_section section = long_section_begin(SIGXFSZ);
    void *pages = extend(bytes);
    long_section_end(&section);
    return pages;
}

void spool_parallel(const struct iolens_transport *transport)
{
    struct spool *spool = &iolens_spool;
    struct {
        struct spool_job job;
        int64_t jobid;
    } root = {{.pid = iolens.pid, .start_ns = clock_start_ns(&iolens.clock)}, iolens.jobid};
    host_name(root.job.host, sizeof root.job.host);
    transport->bcast(&root, sizeof root, 0);
    if (!spool->header && !spool->refused)
        create();
    if (!spool->header) {
        spool->refused = true;
        return;
    }
    spool->header->job = root.job;
    spool->header->jobid = root.jobid;
    spool->header->offsets = iolens.offsets;
    snprintf(spool->header->mpi_version, sizeof spool->header->mpi_version, "%s",
             transport->mpi_version ? transport->mpi_version : "");
    spool->header->rank = transport->rank;
    spool->header->ranks = transport->size;
    spool_beat();
}

/* Maps everything behind the header again at its address, with other flags. */
static bool map_again(int fd, int flags)
{
    char *place = (char *)iolens_spool.header + SPOOL_HEADER_BYTES;
    size_t bytes = iolens_spool.bytes - SPOOL_HEADER_BYTES;
    return bytes == 0 || system_call(SYS_mmap, place, bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd,
                                     (off_t)SPOOL_HEADER_BYTES) == (long)place;
}

/* Makes the records private to this process, so that the spool's file no longer changes; returns false if
 * that failed. The failed call may have removed the shared mapping, so it is made again. */
bool spool_freeze(void)
{
    int fd = iolens_spool.header ? reopen() : -1;
    if (fd < 0)
        return true;
    bool frozen = map_again(fd, MAP_PRIVATE | MAP_NORESERVE);
    if (!frozen)
        map_again(fd, MAP_SHARED);
    system_call(SYS_close, fd);
    return frozen;
}

void spool_forget(void)
{
    struct spool_header *header = iolens_spool.header;
    if (!header)
        return;
    header->first = NULL;
    header->partial = 0;
    for (int table = 0; table < SPOOL_TABLES; table++)
        header->tables[table] = NULL;
}

void spool_name_log(const char *log)
{
    if (iolens_spool.header)
        snprintf(iolens_spool.header->log, sizeof iolens_spool.header->log, "%s", log);
}

void spool_remove(void)
{
    if (iolens_spool.header)
        system_call(SYS_unlinkat, AT_FDCWD, iolens_spool.path, 0);
}

void spool_anew(void)
{
    iolens_spool = (struct spool){.layout = iolens_spool.layout, .tell = iolens_spool.tell};
}

void spool_beat(void)
{
    struct spool *spool = &iolens_spool;
    if (!spool->header)
        return;
    stamp(spool->header);
    if (spool->header->beat_ns - spool->told_ns < TELL_NS)
        return;
    spool->told_ns = spool->header->beat_ns;
    struct float_state state = float_hold();
    on_own_stack(spool->tell);
    float_release(&state);
}
