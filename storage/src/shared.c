#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <time.h>

#include "emulation.h"
#include "params.h"
#include "sys.h"

/* The run is invalid if real calls take longer than the model allows by more than this part of the modelled
 * time, and by more than this many seconds. */
#define SLOW_SHARE 0.2
#define SLOW_LEAST 0.05

static const char *const fault_reason[FAULT_COUNT] = {
    [FAULT_MAPPED] =
        "a file was mapped into memory, and the emulation cannot see transfers through a mapping",
    [FAULT_UNCHARGED] = "a file grew by bytes that no emulated call wrote",
    [FAULT_SLOW_DISK] = "the machine was slower than the emulated storage",
    [FAULT_OBJECTS] = "the job used more objects than the emulation has room for",
    [FAULT_CLIENTS] = "the job has more clients than the emulation has room for",
    [FAULT_HOSTS] = "the job runs on several hosts, and the emulation works on one host only",
};

/* Returns a number for a name (FNV-1a). */
static uint64_t hash_of(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
    return hash;
}

static int initialise(struct shared *shared, const char *job, const char *config, char *problem, size_t room)
{
    char text[8192];
    struct ost_params params;
    if (sys_slurp(config, text, sizeof text) < 0) {
        snprintf(problem, room, "%s: %s", config, strerror(errno));
        return -1;
    }
    char detail[256];
    if (ost_params_parse(text, &params, detail, sizeof detail) != 0) {
        snprintf(problem, room, "%s: %s", config, detail);
        return -1;
    }
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&shared->lock, &attributes);
    shared->params = params;
    ost_begin(&params, &shared->state, hash_of(job), (uint64_t)time(NULL) / 3600);
    sys_slurp("/proc/sys/kernel/random/boot_id", shared->boot, sizeof shared->boot);
    shared->ready = 1;
    return 0;
}

struct shared *shared_open(const char *mount, const char *job, const char *config, char *problem, size_t room)
{
    char path[PATH_MAX], boot[40] = "";
    snprintf(path, sizeof path, "%s/.ost/jobs/%s.state", mount, job);
    int fd = sys_open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0) {
        snprintf(problem, room, "%s: %s", path, strerror(errno));
        return NULL;
    }
    flock(fd, LOCK_EX);
    struct statx info;
    struct shared *shared = NULL;
    bool ok = sys_statx(fd, NULL, &info) == 0 &&
              (info.stx_size == sizeof *shared || sys_call(SYS_ftruncate, fd, sizeof *shared) == 0);
    void *memory = ok ? mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (memory == MAP_FAILED)
        snprintf(problem, room, "%s: %s", path, strerror(errno));
    else if (((struct shared *)memory)->ready || initialise(memory, job, config, problem, room) == 0)
        shared = memory;
    flock(fd, LOCK_UN);
    sys_close(fd);
    sys_slurp("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    if (shared && strcmp(boot, shared->boot) != 0) {
        shared->faults |= 1u << FAULT_HOSTS;
        snprintf(problem, room, "%s", fault_reason[FAULT_HOSTS]);
        return NULL;
    }
    return shared;
}

void shared_lock(struct shared *shared)
{
    /* If a process was killed while it held the lock, the shared numbers can still be used, because each
     * update is a single store. */
    if (pthread_mutex_lock(&shared->lock) == EOWNERDEAD)
        pthread_mutex_consistent(&shared->lock);
}

void shared_unlock(struct shared *shared) { pthread_mutex_unlock(&shared->lock); }

static size_t slot_of(uint64_t key, size_t slots)
{
    return (size_t)((key * 0x9e3779b97f4a7c15u) >> 40) % slots;
}

struct ost_object *shared_object(struct shared *shared, uint64_t file, int target)
{
    uint64_t key = file * OST_MAX_TARGETS + (uint64_t)target + 1;
    size_t at = slot_of(key, OST_OBJECTS);
    for (size_t probe = 0; probe < OST_OBJECTS; probe++, at = (at + 1) % OST_OBJECTS) {
        struct ost_object *object = &shared->objects[at];
        if (object->key == 0)
            object->key = key;
        if (object->key == key)
            return object;
    }
    shared->faults |= 1u << FAULT_OBJECTS;
    return NULL;
}

struct shared_file *shared_file(struct shared *shared, uint64_t inode, int64_t size)
{
    size_t at = slot_of(inode, OST_FILES);
    for (size_t probe = 0; probe < OST_FILES; probe++, at = (at + 1) % OST_FILES) {
        struct shared_file *file = &shared->files[at];
        if (file->inode == 0)
            *file = (struct shared_file){inode, size, size, false};
        if (file->inode == inode)
            return file;
    }
    shared->faults |= 1u << FAULT_OBJECTS;
    return NULL;
}

void shared_account(struct shared_file *file, int64_t end)
{
    if (file && end > file->accounted)
        file->accounted = end;
}

/* Returns the faults that follow from the sums so far; other processes may still be charging. */
static uint32_t imbalance(const struct shared *shared)
{
    uint32_t faults = 0;
    if (shared->excess > SLOW_SHARE * shared->modelled && shared->excess > SLOW_LEAST)
        faults |= 1u << FAULT_SLOW_DISK;
    for (size_t i = 0; i < OST_FILES; i++)
        if (shared->files[i].seen > shared->files[i].accounted)
            faults |= 1u << FAULT_UNCHARGED;
    return faults;
}

static uint64_t handovers(const struct shared *shared)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < OST_OBJECTS; i++)
        sum += shared->objects[i].handovers;
    return sum;
}

void shared_report(struct shared *shared, const char *mount, const char *job)
{
    char path[PATH_MAX], text[16384];
    size_t used = 0;
#define ADD(...)                                                                                             \
    used += (size_t)snprintf(text + used, used < sizeof text ? sizeof text - used : 0, __VA_ARGS__)
    shared_lock(shared);
    uint32_t faults = shared->faults | imbalance(shared);
    ADD("{\"schema\": 1, \"valid\": %s, \"reasons\": [", faults ? "false" : "true");
    const char *comma = "";
    for (int i = 0; i < FAULT_COUNT; i++)
        if (faults & (1u << i)) {
            ADD("%s\"%s\"", comma, fault_reason[i]);
            comma = ", ";
        }
    ADD("], \"bytes_written\": %" PRId64 ", \"bytes_read\": %" PRId64, shared->bytes_written,
        shared->bytes_read);
    ADD(", \"modelled_seconds\": %.6f, \"excess_seconds\": %.6f", shared->modelled, shared->excess);
    ADD(", \"lock_handovers\": %" PRIu64 ", \"targets\": [", handovers(shared));
    for (int i = 0; i < shared->params.targets; i++)
        ADD("%s{\"bytes\": %" PRId64 ", \"busy_seconds\": %.6f}", i ? ", " : "",
            shared->state.targets[i].bytes, shared->state.targets[i].busy);
    ADD("]}\n");
#undef ADD
    snprintf(path, sizeof path, "%s/.ost/jobs/%s.json", mount, job);
    sys_replace(path, text, used);
    shared_unlock(shared);
}
