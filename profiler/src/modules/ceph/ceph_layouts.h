/* The layouts of files on CephFS, from the extended attribute "ceph.file.layout". */
#ifndef IOLENS_CEPH_LAYOUTS_H
#define IOLENS_CEPH_LAYOUTS_H

#include <stdint.h>

struct file;

/* Keeps the layout of a file if it lies on CephFS. `type` is the file system's number as statfs reports it,
 * and `fd` an open descriptor of the file, or -1. */
void ceph_layouts_note(struct file *file, int fd, uint64_t type);

#endif
