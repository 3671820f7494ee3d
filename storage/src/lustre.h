/* The answers that ROMIO's own Lustre driver needs from a file system: two ioctls for the layout of a file
 * and, if it recognises file systems itself, the magic number of statfs. Numbers and structures are those
 * of Lustre's lustre_user.h. */
#ifndef OST_LUSTRE_H
#define OST_LUSTRE_H

#include <stdbool.h>

/* Answers LL_IOC_LOV_GETSTRIPE and LL_IOC_LOV_SETSTRIPE (struct lov_user_md_v1) for files below the mount.
 * Returns false for any other request or file system; the kernel must answer it. Else `result` is the return
 * value of ioctl, with errno EINVAL for another structure or an impossible layout, or EEXIST if the file has
 * data or is older than the job. The errno is EOVERFLOW if the caller has room for fewer stripes; it then
 * learns how many there are. */
bool lustre_ioctl(int fd, unsigned long request, void *argument, int *result);

/* Returns the `f_type` to report for a descriptor, or for `path` unless NULL: Lustre's below the mount if
 * the run asked for it (OST_AS_LUSTRE=1), else `real`. */
long lustre_magic(int fd, const char *path, long real);

#endif
