/* The pages of a file that the kernel holds in memory. */
#ifndef IOLENS_PAGE_CACHE_H
#define IOLENS_PAGE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns true if the kernel tells this process about the file's pages. It tells the owner of the file and
 * those who may write it; to all others it reports that all pages are in memory. */
bool page_cache_is_told(int fd);

/* Returns the number of pages of this range of the file in the page cache; -1 before Linux 6.5. */
int64_t page_cache_of_file(int fd, int64_t offset, size_t bytes);

/* Returns the number of pages of a mapping in the page cache, and sets `*reached` (may be NULL) to the number
 * of pages in the page table of the process; -1 if asking would take more than 2 % of the time that the
 * process has run. */
int64_t page_cache_of_mapping(const void *address, size_t bytes, int64_t *reached);

/* Returns the number of pages of this range of the file that have data in storage, so neither holes nor room
 * that is only reserved. Returns the whole range if the file system does not tell, and for a file in very
 * many pieces. */
int64_t page_cache_stored(int fd, int64_t offset, size_t bytes);

/* Returns the bytes of a page. */
int64_t page_cache_page(void);

/* Returns the number of pages that hold so many bytes. */
int64_t page_cache_pages(int64_t bytes);

#endif
