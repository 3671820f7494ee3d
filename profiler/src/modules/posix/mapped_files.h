/* Counts files that a program maps into its memory: the bytes that storage delivered for them, which pass
 * through no call, and the calls that prepare or flush a mapping. */
#ifndef IOLENS_MAPPED_FILES_H
#define IOLENS_MAPPED_FILES_H

#include "../../runtime/wrap.h"

/* A call of mmap that maps a file. */
struct map_call {
    void *address;
    size_t bytes;
    int protection, flags, fd;
    int64_t offset;
};

/* Asks the kernel how much of the file is in the page cache, before mmap may read the file in (MAP_POPULATE).
 * Keeps the answer in `c`. */
void mapped_before_mmap(struct call *c, const struct map_call *map);

/* Begins to follow the mapping that mmap put at map->address. */
void mapped_on_mmap(const struct call *c, const struct map_call *map);

/* Counts the bytes of mappings that overlap the range, which the program is about to unmap. These mappings
 * are no longer followed, even if only a part is unmapped. */
void mapped_before_munmap(const void *address, size_t bytes);

/* Counts mappings whose pages mremap is about to unmap: those at `target`, NULL for none, and those in a part
 * that is cut off. */
void mapped_before_mremap(const void *old, size_t old_bytes, const void *target, size_t bytes);

/* Follows a mapping to its new place and size, unless only a part of it moved. An old size of 0 means that
 * mremap made a second mapping and kept the first one. */
void mapped_on_mremap(const void *old, size_t old_bytes, const void *address, size_t bytes);

void mapped_on_msync(const struct call *c, const void *address);
void mapped_on_madvise(const struct call *c, const void *address, int advice);

/* Returns true if the kernel tells this process which pages of the file are in memory. It tells the owner of
 * the file and users who may write to it; for all others it claims that all pages are in memory. */
bool page_cache_is_told(int fd);

/* Returns the number of pages of this range of the file in the page cache; -1 before Linux 6.5. */
int64_t page_cache_of_file(int fd, int64_t offset, size_t bytes);

/* Returns the number of pages of a mapping in the page cache, and sets `*reached` (may be NULL) to the number
 * of pages in the page table of the process; -1 if asking would take more than 2 % of the time that the
 * process has run. */
int64_t page_cache_of_mapping(const void *address, size_t bytes, int64_t *reached);

/* Returns the number of pages of this range of the file that have data in storage; holes and room that is
 * only reserved do not count. Returns the size of the whole range if the file system does not tell, or if the
 * file has very many pieces. */
int64_t page_cache_stored(int fd, int64_t offset, size_t bytes);

/* Returns the size of a page in bytes. */
int64_t page_cache_page(void);

/* Returns the number of pages that are needed for this many bytes. */
int64_t page_cache_pages(int64_t bytes);

#endif
