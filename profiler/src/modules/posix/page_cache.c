#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdio.h>

#include "../../runtime/context.h"
#include "../../system/float_state.h"
#include "../../system/path.h"
#include "../../system/system_call.h"
#include "mapped_files.h"

/* CACHESTAT: number of the system call, which is the same on all processors. PAGES: number of pages per
 * request; for each, 8 bytes of page table and one of page cache fit into the memory for a path. */
enum { CACHESTAT = 451, PAGES = 448, LINK_BYTES = 32 };

/* PIECES: pieces of a file per request, which fit into the memory for a path. MOST_REQUESTS: the largest
 * number of requests. */
enum { PIECES = 64, MOST_REQUESTS = 4 };

static const uint64_t PRESENT = UINT64_C(1) << 63;
static const double FREE_SECONDS = 0.1, SHARE = 0.02;

/* Time spent on asking the kernel, over all threads. */
static _Atomic int64_t spent_ns;

struct answer {
    uint64_t table[PAGES];
    unsigned char cached[PAGES];
};
struct pieces {
    struct fiemap asked;
    struct fiemap_extent of[PIECES];
};
_Static_assert(sizeof(struct answer) <= PATH_BYTES && sizeof(struct pieces) <= PATH_BYTES,
               "the memory for a path must have room for an answer of the kernel");

int64_t page_cache_page(void) { return sysconf(_SC_PAGESIZE); }

bool page_cache_is_told(int fd)
{
    struct stat info;
    char link[LINK_BYTES];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    return file_info_fd(fd, &info) == 0 &&
           (info.st_uid == geteuid() || system_call(SYS_faccessat, AT_FDCWD, link, W_OK) == 0);
}

int64_t page_cache_of_file(int fd, int64_t offset, size_t bytes)
{
    struct {
        uint64_t begin, bytes;
    } range = {(uint64_t)offset, bytes};
    struct {
        uint64_t cached, dirty, writeback, evicted, recently_evicted;
    } stat;
    if (bytes == 0)
        return 0;
    return system_call(CACHESTAT, fd, &range, &stat, 0) == 0 ? (int64_t)stat.cached : -1;
}

int64_t page_cache_pages(int64_t bytes)
{
    int64_t size = page_cache_page();
    return (bytes + size - 1) / size;
}

/* Returns the pages with data in [at, end); -1 if the kernel does not tell all of them. */
static int64_t pages_with_data(int fd, struct pieces *pieces, int64_t at, int64_t end)
{
    int64_t pages = 0;
    for (int i = 0; i < MOST_REQUESTS; i++) {
        struct fiemap ask = {
            .fm_start = (uint64_t)at, .fm_length = (uint64_t)(end - at), .fm_extent_count = PIECES};
        pieces->asked = ask;
        if (system_call(SYS_ioctl, fd, FS_IOC_FIEMAP, pieces) != 0)
            return -1;
        for (uint32_t j = 0; j < pieces->asked.fm_mapped_extents; j++) {
            const struct fiemap_extent *piece = &pieces->of[j];
            int64_t begin = (int64_t)piece->fe_logical, stop = begin + (int64_t)piece->fe_length;
            begin = begin > at ? begin : at;
            at = stop > at ? stop : at;
            stop = stop < end ? stop : end;
            if (!(piece->fe_flags & FIEMAP_EXTENT_UNWRITTEN) && begin < stop)
                pages += page_cache_pages(stop - begin);
        }
        if (pieces->asked.fm_mapped_extents < PIECES || at >= end)
            return pages;
    }
    return -1;
}

/* Counts the pages with data from the list of the file's pieces (FIEMAP): SEEK_HOLE would move the program's
 * descriptor, and closing another descriptor would release the program's locks on the file. */
int64_t page_cache_stored(int fd, int64_t offset, size_t bytes)
{
    struct pieces *pieces = bytes > 0 ? (struct pieces *)path_room_take() : NULL;
    int64_t stored = pieces ? pages_with_data(fd, pieces, offset, offset + (int64_t)bytes) : -1;
    path_room_give((char *)pieces);
    return stored < 0 ? page_cache_pages((int64_t)bytes) : stored;
}

/* Not inlined, because the compiler may move arithmetic across float_hold and float_release, but not a call.
 */
__attribute__((noinline)) static bool is_left(double t0)
{
    double now = clock_now(&iolens.clock);
    return (double)spent_ns / 1e9 + now - t0 < FREE_SECONDS + SHARE * now;
}

static bool has_time(double t0)
{
    struct float_state state = float_hold();
    bool left = is_left(t0);
    float_release(&state);
    return left;
}

/* Counts the next pages. Returns false if the kernel does not answer. */
static bool ask(uintptr_t page, int64_t pages, int table, struct answer *answer, int64_t *cached,
                int64_t *reached)
{
    int64_t size = page_cache_page(), bytes = pages * (int64_t)sizeof *answer->table;
    if (system_call(SYS_mincore, page, (size_t)(pages * size), answer->cached) != 0 ||
        (table >= 0 && system_call(SYS_pread64, table, answer->table, (size_t)bytes,
                                   (int64_t)page / size * (int64_t)sizeof *answer->table) != bytes))
        return false;
    for (int64_t i = 0; i < pages; i++) {
        *cached += answer->cached[i] & 1;
        *reached += table >= 0 && answer->table[i] & PRESENT;
    }
    return true;
}

int64_t page_cache_of_mapping(const void *address, size_t bytes, int64_t *reached)
{
    double t0 = clock_now(&iolens.clock);
    int64_t size = page_cache_page(), pages = page_cache_pages((int64_t)bytes), cached = 0, present = 0;
    struct answer *answer = (struct answer *)path_room_take();
    int table =
        reached ? (int)system_call(SYS_openat, AT_FDCWD, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC) : -1;
    bool whole = answer && (!reached || table >= 0);
    for (int64_t done = 0; whole && done < pages; done += PAGES) {
        int64_t next = pages - done < PAGES ? pages - done : PAGES;
        whole = has_time(t0) &&
                ask((uintptr_t)address + (uintptr_t)(done * size), next, table, answer, &cached, &present);
    }
    if (table >= 0)
        system_call(SYS_close, table);
    path_room_give((char *)answer);
    if (reached)
        *reached = present;
    spent_ns += clock_ns_of(clock_now(&iolens.clock) - t0);
    return whole ? cached : -1;
}
