/* What ROMIO's own Lustre driver asks of a file system: two ioctls for the layout of a file and, where it
 * recognises file systems by itself, the magic number of statfs. Numbers and structures are those of Lustre's
 * lustre_user.h. */
#ifndef OST_LUSTRE_H
#define OST_LUSTRE_H

#include <stdbool.h>

/* LL_IOC_LOV_GETSTRIPE and LL_IOC_LOV_SETSTRIPE (struct lov_user_md_v1) of what lies below the mount. False:
 * another request or another file system, which the kernel answers. Else `result` is what ioctl returns, with
 * errno EINVAL for another structure or an impossible layout, EOVERFLOW when the caller has room for fewer
 * stripes (it learns how many there are), EEXIST when the file has data or is older than the job. */
bool lustre_ioctl(int fd, unsigned long request, void *argument, int *result);

/* The `f_type` to report for a descriptor, or for `path` unless NULL: Lustre's below the mount when the run
 * asked for it (OST_AS_LUSTRE=1), else `real`. */
long lustre_magic(int fd, const char *path, long real);

#endif
