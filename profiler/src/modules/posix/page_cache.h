/* The pages of a file that the kernel holds in memory. */
#ifndef IOLENS_PAGE_CACHE_H
#define IOLENS_PAGE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
