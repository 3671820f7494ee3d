#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "emulation.h"
#include "sys.h"

/* Numbers from Lustre's lustre_user.h: two ioctl requests, and the magic number that statfs reports. */
#define LL_IOC_LOV_SETSTRIPE _IOW('f', 154, long)
#define LL_IOC_LOV_GETSTRIPE _IOW('f', 155, long)
#define LL_SUPER_MAGIC       0x0BD00BD0

static int failed(int error)
{
    errno = error;
    return -1;
}

static int get_stripe(int fd, struct lov_header *asked)
{
    struct lov_header wanted;
    memcpy(&wanted, asked, sizeof wanted);
    if (wanted.magic != LOV_MAGIC_V1)
        return failed(EINVAL);
    union {
        struct lov_header header;
        char bytes[LOV_MOST_BYTES];
    } answer;
    ssize_t bytes = emulation_layout(fd, NULL, &answer, sizeof answer);
    if (bytes < 0)
        return failed(EFBIG);
    if (wanted.stripe_count && wanted.stripe_count < answer.header.stripe_count) {
        asked->stripe_count = answer.header.stripe_count;
        return failed(EOVERFLOW);
    }
    memcpy(asked, &answer, (size_t)bytes);
    return 0;
}

static int set_stripe(int fd, const struct lov_header *wanted)
{
    struct ost_layout layout;
    if (!layout_decode(wanted, &emulation.shared->params, &layout))
        return failed(EINVAL);
    int error = emulation_set_layout(fd, &layout);
    return error ? failed(error) : 0;
}

bool lustre_ioctl(int fd, unsigned long request, void *argument, int *result)
{
    if (!emulation.on || (request != LL_IOC_LOV_GETSTRIPE && request != LL_IOC_LOV_SETSTRIPE) ||
        !emulation_holds(fd))
        return false;
    if (!argument)
        *result = failed(EFAULT);
    else
        *result = request == LL_IOC_LOV_GETSTRIPE ? get_stripe(fd, argument) : set_stripe(fd, argument);
    return true;
}

long lustre_magic(int fd, const char *path, long real)
{
    if (!emulation.on || !emulation.as_lustre)
        return real;
    int error = errno;
    bool below = path ? emulation_holds_path(path) : emulation_holds(fd);
    errno = error;
    return below ? LL_SUPER_MAGIC : real;
}
