#include "mapped_files.h"

#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statfs.h>

#include "../../system/system_call.h"
#include "../../tables/process_table.h"
#include "../timer.h"
#include "posix.h"

enum { LIVE_MAPPINGS = 256, BLOCK = 512 };

/* Special values of `cached`: the page cache was not asked about, the file lies in memory, the kernel does
 * not tell. */
enum { NOT_ASKED = -1, IN_MEMORY = -2, FORBIDDEN = -3 };

/* Counters of the process; their differences say what happened while a file was mapped. */
struct process_counts {
    int64_t major_faults, storage_read, storage_written;
};

struct mapped_counts {
    struct spin lock;
    int64_t mappings, bytes, writable, told, in_memory, forbidden, fetched, reached;
    int64_t random_advice, ahead_advice, syncs,
        live; /* `live` is the number of mappings that are followed now. */
    struct process_counts first, sum;
    double call_seconds, last_call, sync_seconds, last_sync; /* Times that overlap count once. */
};

struct mapping {
    uintptr_t address;
    size_t bytes; /* Length of the part of the mapping that lay in the file when it was mapped. */
    /* `cached`: number of pages of this part that were in the page cache before it was mapped, or one of the
     * special values. `stored`: number of its pages for which the file has data, so no holes. */
    int64_t offset, cached, stored;
    struct file *file; /* The mapped file; NULL if this entry is free. */
};

/* The mappings of the process that are followed. */
static struct {
    struct spin lock;
    atomic_int live;
    struct mapping of[LIVE_MAPPINGS];
} mapped;

static struct process_counts read_process(void)
{
    struct rusage usage;
    if (system_call(SYS_getrusage, RUSAGE_SELF, &usage) != 0)
        return (struct process_counts){0};
    return (struct process_counts){usage.ru_majflt, usage.ru_inblock * (int64_t)BLOCK,
                                   usage.ru_oublock * (int64_t)BLOCK};
}

static struct mapped_counts *counts_of(struct file *file)
{
    return table_file_state(TABLE_mapped_files, file);
}

/* Returns the file of a descriptor; NULL if it is not recorded. */
static struct file *file_of(int fd)
{
    struct open_file *open = fds_sure(fd);
    return open && posix_state_of(open, fd) ? fds_file(open) : NULL;
}

/* Returns the bytes of the mapping that lie in the file. */
static size_t bytes_in_file(const struct map_call *map)
{
    struct stat info;
    if (file_info_fd(map->fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size <= map->offset)
        return 0;
    uint64_t rest = (uint64_t)(info.st_size - map->offset);
    return rest < map->bytes ? (size_t)rest : map->bytes;
}

static bool keeps_in_memory(uint64_t kind)
{
    return kind == TMPFS_MAGIC || kind == RAMFS_MAGIC || kind == HUGETLBFS_MAGIC;
}

/* Returns how many pages of the file's range are in the page cache, or why that is unknown. For overlayfs it
 * is unknown: mappings use the page cache of the file below, and the file's own page cache stays empty. */
static int64_t ask_descriptor(const struct map_call *map)
{
    struct statfs system;
    if (fstatfs(map->fd, &system) == 0 && keeps_in_memory((uint64_t)system.f_type))
        return IN_MEMORY;
    if (!page_cache_is_told(map->fd))
        return FORBIDDEN;
    return system.f_type == OVERLAYFS_SUPER_MAGIC
               ? NOT_ASKED
               : page_cache_of_file(map->fd, map->offset, bytes_in_file(map));
}

static void read_process_first(struct mapped_counts *counts)
{
    spin_lock(&counts->lock);
    if (counts->live == 0)
        counts->first = read_process();
    spin_unlock(&counts->lock);
}

/* Notes, before a file is mapped, how much of it is in the page cache. mmap may still fail, so no record is
 * made here for a file that has none yet. */
void mapped_before_mmap(struct call *c, const struct map_call *map)
{
    if (map->flags & MAP_FIXED)
        mapped_before_munmap(map->address, map->bytes);
    bool counts = !(map->flags & MAP_ANONYMOUS) && iolens_owns_memory() && !iolens_paused();
    struct open_file *open = counts ? fds_sure(map->fd) : NULL;
    if (!open)
        return;
    c->mark = ask_descriptor(map);
    struct file *file = open->posix ? fds_file(open) : NULL;
    c->taken = file ? counts_of(file) : NULL;
    if (c->taken)
        read_process_first(c->taken);
}

/* Returns true if a followed mapping of the file shares bytes with the new mapping; these would be counted
 * twice. */
static bool is_followed(const struct mapping *fresh)
{
    for (int i = 0; i < LIVE_MAPPINGS; i++) {
        const struct mapping *m = &mapped.of[i];
        if (m->file == fresh->file && m->offset < fresh->offset + (int64_t)fresh->bytes &&
            fresh->offset < m->offset + (int64_t)m->bytes)
            return true;
    }
    return false;
}

/* Begins to follow a mapping; returns false if there is no room for it. */
static bool follow(const struct mapping *fresh)
{
    bool followed = false;
    spin_lock(&mapped.lock);
    if (!is_followed(fresh))
        for (int i = 0; i < LIVE_MAPPINGS && !followed; i++)
            if (!mapped.of[i].file) {
                mapped.of[i] = *fresh;
                mapped.live++;
                followed = true;
            }
    spin_unlock(&mapped.lock);
    return followed;
}

static void count_mapping(const struct call *c, struct mapped_counts *counts, const struct map_call *map)
{
    bool writable = map->protection & PROT_WRITE && (map->flags & MAP_TYPE) != MAP_PRIVATE;
    counts->mappings++;
    counts->bytes += (int64_t)map->bytes;
    counts->writable += writable;
    counts->in_memory += c->mark == IN_MEMORY;
    counts->forbidden += c->mark == FORBIDDEN;
    timer_add(&counts->call_seconds, &counts->last_call, c->t0, c->t1);
}

void mapped_on_mmap(const struct call *c, const struct map_call *map)
{
    struct file *file = iolens_owns_memory() && !iolens_paused() ? file_of(map->fd) : NULL;
    struct mapped_counts *counts = file ? counts_of(file) : NULL;
    if (!counts)
        return;
    if (!c->taken)
        read_process_first(counts);
    size_t bytes = bytes_in_file(map);
    struct mapping fresh = {(uintptr_t)map->address,
                            bytes,
                            map->offset,
                            c->mark,
                            page_cache_stored(map->fd, map->offset, bytes),
                            file};
    if (fresh.cached == NOT_ASKED && !(map->flags & (MAP_POPULATE | MAP_LOCKED)))
        fresh.cached = page_cache_of_mapping(map->address, fresh.bytes, NULL);
    spin_lock(&counts->lock);
    count_mapping(c, counts, map);
    counts->live += follow(&fresh);
    spin_unlock(&counts->lock);
}

/* Adds the counts of a mapping that ends to the counts of its file. */
static void finish(const struct mapping *m)
{
    struct mapped_counts *counts = counts_of(m->file);
    int64_t reached = 0;
    int64_t cached =
        m->cached >= 0 ? page_cache_of_mapping((void *)m->address, m->bytes, &reached) : m->cached;
    if (!counts)
        return;
    spin_lock(&counts->lock);
    if (cached >= 0) {
        counts->told++;
        int64_t more = cached > m->cached ? cached - m->cached : 0;
        counts->fetched += (more < m->stored ? more : m->stored) * page_cache_page();
        counts->reached += reached * page_cache_page();
    }
    if (--counts->live == 0) {
        struct process_counts now = read_process();
        counts->sum.major_faults += now.major_faults - counts->first.major_faults;
        counts->sum.storage_read += now.storage_read - counts->first.storage_read;
        counts->sum.storage_written += now.storage_written - counts->first.storage_written;
    }
    spin_unlock(&counts->lock);
}

/* Removes one followed mapping that overlaps the range from the list, and returns it in `taken`. Returns
 * false if there is none. */
static bool take(uintptr_t begin, size_t bytes, struct mapping *taken)
{
    bool found = false;
    spin_lock(&mapped.lock);
    for (int i = 0; i < LIVE_MAPPINGS && !found; i++) {
        struct mapping *m = &mapped.of[i];
        if (m->file && m->address < begin + bytes && begin < m->address + (m->bytes ? m->bytes : 1)) {
            *taken = *m;
            m->file = NULL;
            mapped.live--;
            found = true;
        }
    }
    spin_unlock(&mapped.lock);
    return found;
}

void mapped_before_munmap(const void *address, size_t bytes)
{
    struct mapping taken;
    while (mapped.live > 0 && take((uintptr_t)address, bytes, &taken))
        finish(&taken);
}

void mapped_before_mremap(const void *old, size_t old_bytes, const void *target, size_t bytes)
{
    if (target)
        mapped_before_munmap(target, bytes);
    if (bytes < old_bytes)
        mapped_before_munmap((const char *)old + bytes, old_bytes - bytes);
}

/* Pages that mremap added to the mapping count as fetched only if they were not in the page cache before. */
void mapped_on_mremap(const void *old, size_t old_bytes, const void *address, size_t bytes)
{
    struct mapping m;
    if (old_bytes == 0 || mapped.live == 0 || !take((uintptr_t)old, 1, &m))
        return;
    bool whole = m.address == (uintptr_t)old && m.bytes <= old_bytes, grows = bytes > m.bytes;
    int64_t more = whole && grows && m.cached >= 0
                       ? page_cache_of_mapping((const char *)address + m.bytes, bytes - m.bytes, NULL)
                       : 0;
    m.cached = !whole || m.cached < 0 || more < 0 ? NOT_ASKED : m.cached + more;
    m.stored += grows ? page_cache_pages((int64_t)(bytes - m.bytes)) : 0;
    m.bytes = bytes;
    m.address = (uintptr_t)address;
    if (!whole || !follow(&m))
        finish(&m);
}

/* Returns the counts of the file whose followed mapping holds the address; NULL if there is none. */
static struct mapped_counts *find(const void *address)
{
    struct file *file = NULL;
    if (mapped.live == 0 || iolens_paused())
        return NULL;
    spin_lock(&mapped.lock);
    for (int i = 0; i < LIVE_MAPPINGS && !file; i++)
        if ((uintptr_t)address - mapped.of[i].address < mapped.of[i].bytes)
            file = mapped.of[i].file;
    spin_unlock(&mapped.lock);
    return file ? counts_of(file) : NULL;
}

void mapped_on_msync(const struct call *c, const void *address)
{
    struct mapped_counts *counts = find(address);
    if (!counts)
        return;
    spin_lock(&counts->lock);
    counts->syncs++;
    timer_add(&counts->sync_seconds, &counts->last_sync, c->t0, c->t1);
    spin_unlock(&counts->lock);
}

void mapped_on_madvise(const struct call *c, const void *address, int advice)
{
    struct mapped_counts *counts = find(address);
    if (!counts)
        return;
    spin_lock(&counts->lock);
    counts->random_advice += advice == MADV_RANDOM;
    counts->ahead_advice +=
        advice == MADV_WILLNEED || advice == MADV_SEQUENTIAL || advice == MADV_POPULATE_READ;
    timer_add(&counts->call_seconds, &counts->last_call, c->t0, c->t1);
    spin_unlock(&counts->lock);
}

static void end(void) { mapped_before_munmap(NULL, SIZE_MAX); }

/* Forgets all mappings in a child of fork, which has its parent's mappings, but not its records. */
static void reset(void) { memset(&mapped, 0, sizeof mapped); }

struct row {
    uint64_t file;
    int64_t rank, mappings, bytes, writable, told, in_memory, forbidden, fetched, reached;
    int64_t random_advice, ahead_advice, syncs, major_faults, storage_read, storage_written;
    double call_seconds, sync_seconds;
};

static const struct column COLUMNS[] = {
    COLUMN(file, "<u8", "record id", "the file, by its id in the name region"),
    COLUMN(rank, "<i8", "rank", "the rank to which these numbers belong"),
    COLUMN(mappings, "<i8", "calls", "calls of mmap"),
    COLUMN(bytes, "<i8", "B", "bytes that these calls mapped"),
    COLUMN(writable, "<i8", "calls", "calls that mapped the file so that stores to memory change the file"),
    COLUMN(told, "<i8", "mappings",
           "mappings for which the kernel reported the bytes of `fetched` and `reached`"),
    COLUMN(in_memory, "<i8", "mappings", "mappings of files on a file system that keeps its files in memory"),
    COLUMN(forbidden, "<i8", "mappings",
           "mappings of files that the user may not write and does not own; the kernel does not say "
           "which of their pages are in memory"),
    COLUMN(fetched, "<i8", "B",
           "bytes of mapped ranges that the page cache held at the end and not at the start: storage "
           "delivered them, for any process of the node and by faults or calls. Bytes that left the page "
           "cache again before the end are not counted. In a file with holes, or with reserved space that "
           "was never written, at most the bytes that have data are counted"),
    COLUMN(reached, "<i8", "B",
           "bytes that were in the page table of the process at the end. The kernel also enters "
           "neighbours of a touched page there, so this is an upper bound of the bytes touched"),
    COLUMN(random_advice, "<i8", "calls", "madvise with MADV_RANDOM"),
    COLUMN(ahead_advice, "<i8", "calls", "madvise with MADV_SEQUENTIAL, MADV_WILLNEED or MADV_POPULATE_READ"),
    COLUMN(syncs, "<i8", "calls", "msync"),
    COLUMN(major_faults, "<i8", "faults",
           "page faults of the process that waited for storage while the file was mapped"),
    COLUMN(storage_read, "<i8", "B",
           "bytes read from block devices for the process while the file was mapped, by faults or calls"),
    COLUMN(
        storage_written, "<i8", "B",
        "bytes that stores or calls of the process changed in the page cache of block devices while the file "
        "was mapped; the kernel writes them back later"),
    COLUMN(call_seconds, "<f8", "s", "time in mmap and madvise, overlap counted once"),
    COLUMN(sync_seconds, "<f8", "s", "time in msync, overlap counted once"),
};

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    for (struct file *file = iolens_registry.first; file; file = file->next) {
        const struct mapped_counts *counts = table_file_state_known(TABLE_mapped_files, file);
        if (!counts || counts->mappings == 0)
            continue;
        struct row row = {
            .file = file->id,
            .rank = transport->rank,
            .mappings = counts->mappings,
            .bytes = counts->bytes,
            .writable = counts->writable,
            .told = counts->told,
            .in_memory = counts->in_memory,
            .forbidden = counts->forbidden,
            .fetched = counts->fetched,
            .reached = counts->reached,
            .random_advice = counts->random_advice,
            .ahead_advice = counts->ahead_advice,
            .syncs = counts->syncs,
            .major_faults = counts->sum.major_faults,
            .storage_read = counts->sum.storage_read,
            .storage_written = counts->sum.storage_written,
            .call_seconds = counts->call_seconds * iolens.timeline.factor,
            .sync_seconds = counts->sync_seconds * iolens.timeline.factor,
        };
        buffer_put(rows, &row, sizeof row);
    }
}

const struct process_table table_mapped_files = {
    .name = "mapped_files",
    .meaning = "Files that a rank mapped into its memory. The profiler asks the kernel when a file is "
               "mapped, when a mapping is removed and when the program ends, for at most 0.1 s and 2 % of "
               "the run time. It does not ask about mappings of a killed process, mappings beyond 256 at a "
               "time, and mappings of bytes that are already mapped",
    TABLE_ROWS(COLUMNS),
    .recording.file_bytes = sizeof(struct mapped_counts),
    .recording.end = end,
    .recording.reset = reset,
    .merging.collect = collect,
};
