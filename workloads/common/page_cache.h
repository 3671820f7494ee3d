/* What this node keeps of a file in memory. */
#ifndef COMMON_PAGE_CACHE_H
#define COMMON_PAGE_CACHE_H

/* Has the kernel write the file out and forget its pages, and returns the part of them that it holds all the
 * same, 0 to 1 (a file system in memory keeps all); NaN when nobody tells. Needs no privilege on a file of
 * one's own. What servers of a file system keep is not touched. */
double page_cache_forget(const char *path);

#endif
