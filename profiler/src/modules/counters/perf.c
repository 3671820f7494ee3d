#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include "../../system/system_call.h"
#include "counts.h"

enum { HIGHEST_START = 512 };

static int paranoia(void)
{
    char text[16] = "";
    int level = -1, fd = (int)system_call(SYS_openat, AT_FDCWD, "/proc/sys/kernel/perf_event_paranoid",
                                          O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && system_call(SYS_read, fd, text, sizeof text - 1) > 0)
        sscanf(text, "%d", &level);
    if (fd >= 0)
        system_call(SYS_close, fd);
    return level;
}

static void explain(int error, char reason[PERF_REASON_BYTES])
{
    switch (error) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
    case ENXIO:
        snprintf(reason, PERF_REASON_BYTES,
                 "this machine has no such counter: the processor lacks it, or a virtual machine hides it");
        break;
    case EACCES:
    case EPERM:
        snprintf(reason, PERF_REASON_BYTES,
                 "not permitted: perf_event_paranoid is %d, or a container forbids it", paranoia());
        break;
    case ENOSYS:
        snprintf(reason, PERF_REASON_BYTES, "the kernel, or a container, has no perf_event_open");
        break;
    default:
        snprintf(reason, PERF_REASON_BYTES, "perf_event_open: %s", strerror(error));
    }
}

static int open_event(struct perf_event_attr *attributes)
{
    return (int)system_call(SYS_perf_event_open, attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Excludes forked children where the kernel can tell them from threads (Linux 5.13); older kernels include
 * them. */
static int open_inherited(struct perf_event_attr *attributes)
{
    attributes->inherit = 1;
#ifdef PERF_ATTR_SIZE_VER7
    attributes->inherit_thread = 1;
    int fd = open_event(attributes);
    if (fd >= 0 || (errno != EINVAL && errno != E2BIG))
        return fd;
    attributes->inherit_thread = 0;
#endif
    return open_event(attributes);
}

/* Moves a descriptor to a high number, out of the way of programs that rely on the lowest free number.
 * Returns -1 if the process may have too few descriptors to give one away, or has used its high numbers up.
 */
static int move_up(int fd)
{
    enum { FEW = 64 };
    struct rlimit most;
    int moved = -1;
    if (system_call(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &most) == 0 && most.rlim_cur >= FEW) {
        rlim_t half = most.rlim_cur / 2;
        moved = (int)system_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, half < HIGHEST_START ? half : HIGHEST_START);
    }
    system_call(SYS_close, fd);
    return moved;
}

bool perf_open(struct perf_counter *counter, int type, uint64_t code, bool threads, bool kernel,
               char reason[PERF_REASON_BYTES])
{
    counter->fd = -1;
    *reason = '\0';
    if (type == PERF_NONE) {
        snprintf(reason, PERF_REASON_BYTES,
                 "Linux has no generic name for this event, and iolens does not know this processor's "
                 "code for it");
        return false;
    }
    struct perf_event_attr attributes = {
        .type = (uint32_t)type,
        .size = sizeof attributes,
        .config = code,
        .exclude_kernel = !kernel,
        .exclude_hv = 1,
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
    };
    int fd = threads ? open_inherited(&attributes) : open_event(&attributes);
    if (fd < 0) {
        explain(errno, reason);
        return false;
    }
    counter->fd = move_up(fd);
    if (counter->fd < 0) {
        snprintf(reason, PERF_REASON_BYTES,
                 "the limit of open files leaves no descriptor for it (ulimit -n)");
        return false;
    }
    if (system_call(SYS_ioctl, counter->fd, PERF_EVENT_IOC_ID, &counter->id) == 0)
        return true;
    explain(errno, reason);
    system_call(SYS_close, counter->fd);
    counter->fd = -1;
    return false;
}

/* Returns true if the descriptor is still that of our counter: the program may have closed the counter and
 * reused the descriptor. */
static bool is_ours(const struct perf_counter *counter)
{
    uint64_t id = 0;
    return counter->fd >= 0 && system_call(SYS_ioctl, counter->fd, PERF_EVENT_IOC_ID, &id) == 0 &&
           id == counter->id;
}

bool perf_read(const struct perf_counter *counter, struct perf_count *count)
{
    return is_ours(counter) && system_call(SYS_read, counter->fd, count, sizeof *count) == sizeof *count;
}

void perf_close(struct perf_counter *counter)
{
    if (is_ours(counter))
        system_call(SYS_close, counter->fd);
    counter->fd = -1;
}
