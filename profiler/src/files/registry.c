#include "registry.h"

#include <sys/sysmacros.h>

#include "../runtime/context.h"
#include "../spool/spool.h"
#include "../system/hash.h"
#include "../system/system_call.h"
#include "filter.h"

struct registry iolens_registry;

enum { FIRST_BUCKETS = 1 << 14, MORE_BUCKETS = 16, ALL_MODULES = (1 << MODULE_COUNT) - 1 };

static struct file **bucket_of(uint64_t id)
{
    return &iolens_registry.buckets[id & (iolens_registry.bucket_count - 1)];
}

static struct file *find(uint64_t id)
{
    if (!iolens_registry.buckets)
        return NULL;
    struct file *file = *bucket_of(id);
    while (file && file->id != id)
        file = file->in_bucket;
    return file;
}

void registry_leave_out(uint32_t modules_left)
{
    iolens_registry.partial |= modules_left;
    if (iolens_spool.header)
        iolens_spool.header->partial |= modules_left;
}

void registry_reset(void) { iolens_registry = (struct registry){.lock.held = ATOMIC_FLAG_INIT}; }

/* Returns true if the hash table has buckets; they are made with the first file. */
static bool has_buckets(struct registry *registry)
{
    if (!registry->buckets) {
        registry->buckets = pages_alloc(FIRST_BUCKETS * sizeof *registry->buckets);
        registry->bucket_count = FIRST_BUCKETS;
        registry->last = &registry->first;
    }
    return registry->buckets;
}

static void link_in_bucket(struct file *file)
{
    file->in_bucket = *bucket_of(file->id);
    *bucket_of(file->id) = file;
}

/* Gives the hash table more buckets. If allocation fails, the old table stays, with longer chains. */
static void add_buckets(struct registry *registry)
{
    size_t count = registry->bucket_count * MORE_BUCKETS;
    struct file **more = pages_alloc(count * sizeof *more);
    if (!more)
        return;
    pages_free(registry->buckets, registry->bucket_count * sizeof *more);
    registry->buckets = more;
    registry->bucket_count = count;
    for (struct file *file = registry->first; file; file = file->next)
        link_in_bucket(file);
}

/* Enters a complete file into the registry. The spool may be read at any moment, so the file is linked into
 * the list last. */
static void enter(struct registry *registry, struct file *file)
{
    if (registry->files == registry->bucket_count)
        add_buckets(registry);
    registry->files++;
    link_in_bucket(file);
    atomic_thread_fence(memory_order_release);
    *registry->last = file;
    registry->last = &file->next;
}

static struct file *add(uint64_t id, const char *absolute)
{
    struct registry *registry = &iolens_registry;
    struct file *file = arena_alloc(&iolens.arena, sizeof *file);
    if (!has_buckets(registry) || !file || !(file->path = arena_text(&iolens.arena, absolute)))
        return NULL;
    file->id = id;
    file->owner = iolens.pid;
    enter(registry, file);
    if (registry->first == file && iolens_spool.header)
        iolens_spool.header->first = file;
    return file;
}

bool registry_adopt(struct file *file)
{
    if (!has_buckets(&iolens_registry))
        return false;
    file->owner = iolens.pid;
    file->next = NULL;
    enter(&iolens_registry, file);
    return true;
}

/* Returns the file with this id and creates it if it is new. */
static struct file *make(uint64_t id, const char *absolute, uint32_t skip)
{
    spool_beat();
    spin_lock(&iolens_registry.lock);
    struct file *file = find(id);
    if (!file && (file = add(id, absolute)))
        file->skip = skip;
    else if (!file)
        registry_leave_out(~0u);
    spin_unlock(&iolens_registry.lock);
    return file;
}

struct file *registry_own(struct file *file)
{
    return file->owner == iolens.pid ? file : make(file->id, file->path, file->skip);
}

struct file *registry_find(uint64_t id)
{
    spin_lock(&iolens_registry.lock);
    struct file *file = find(id);
    spin_unlock(&iolens_registry.lock);
    return file;
}

struct file *registry_file(const char *absolute) { return registry_file_for(absolute, absolute); }

struct file *registry_file_for(const char *real, const char *absolute)
{
    uint64_t id = record_id(real, strlen(real));
    struct file *file = registry_find(id);
    bool included = false;
    if (file)
        return file;
    uint32_t skip = filter_skip(&iolens_filter, absolute, &included);
    if (skip == ALL_MODULES || (!included && !path_is_recorded(absolute, iolens.settings.include)))
        return NULL;
    return make(id, real, skip);
}

void *registry_spare(enum module_index module)
{
    void *fresh = NULL;
    if (iolens_filter.modules_off >> module & 1)
        return NULL;
    if (filter_more(&iolens_filter, module))
        fresh = arena_alloc(&iolens.arena, modules[module]->state_bytes);
    if (!fresh)
        registry_leave_out(1u << module);
    return fresh;
}

void registry_count(const struct file *file, enum module_index module)
{
    iolens_registry.states[module]++;
    iolens_registry.used += file->path[0] == '/';
}

void *registry_install(struct file *file, enum module_index module, void *fresh)
{
    void *state = NULL;
    if (file->skip >> module & 1)
        return NULL;
    if (!atomic_compare_exchange_strong(&file->state[module], &state, fresh))
        return state;
    registry_count(file, module);
    return fresh;
}

static struct file *from(struct file *file, enum module_index module)
{
    while (file && !file->state[module])
        file = file->next;
    return file;
}

struct file *registry_first(enum module_index module)
{
    return iolens_registry.states[module] > 0 ? from(iolens_registry.first, module) : NULL;
}

struct file *registry_next(const struct file *file, enum module_index module)
{
    return from(file->next, module);
}

void *registry_state(struct file *file, enum module_index module, int fd)
{
    return iolens_paused() ? NULL : registry_state_at_end(file, module, fd);
}

void registry_note_place(struct file *file, int fd)
{
    if (fd >= 0 && !file->place.mount && file->path[0] == '/')
        place_ask(&file->place, fd);
}

/* Returns a module's state of a file, and makes it if there is none. Returns NULL if the module does not
 * record this file, or without memory. The state is made without a lock, because a file system may take long
 * to tell its block size: if two threads make it at once, one of them discards its own. */
void *registry_state_at_end(struct file *file, enum module_index module, int fd)
{
    void *state = file->state[module], *fresh;
    if (state || ((file->skip | iolens_filter.modules_off) >> module & 1))
        return state;
    fresh = registry_spare(module);
    registry_note_place(file, fd);
    if (fresh && modules[module]->init)
        modules[module]->init(fresh, file, fd);
    return fresh ? registry_install(file, module, fresh) : NULL;
}

/* Fields of the kernel's struct statx, which the headers of older systems do not have in full. */
struct answer {
    uint32_t mask, words[33];
    uint32_t major, minor;
    uint64_t mount;
    uint64_t spare[13];
};

_Static_assert(offsetof(struct answer, mount) == 0x90 && sizeof(struct answer) == 256,
               "struct answer must be laid out like struct statx");

void place_ask(struct place *place, int fd)
{
    enum { MOUNT_NUMBER = 0x1000, EMPTY_PATH = 0x1000 };
    struct answer answer = {0};
    int saved_errno = errno;
    if (system_call(SYS_statx, fd, "", EMPTY_PATH, MOUNT_NUMBER, &answer) == 0) {
        place->device = makedev(answer.major, answer.minor);
        place->mount = answer.mask & MOUNT_NUMBER && answer.mount ? (int64_t)answer.mount : -1;
    }
    errno = saved_errno;
}
