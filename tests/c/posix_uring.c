/* Uses a ring by numbered system calls, without a library; other numbered calls must work as without the
 * profiler. */
#include "posix_expect.h"

#include <linux/io_uring.h>
#include <sys/syscall.h>

int main(void)
{
    struct io_uring_params params = {0};
    int fd = open("uring.dat", O_CREAT | O_RDWR, 0600);
    MUST(fd >= 0 && write(fd, "x", 1) == 1);
    MUST(syscall(SYS_io_uring_setup, 0L, &params) == -1 && errno == EINVAL);
    if (syscall(SYS_io_uring_setup, 8L, &params) < 0) {
        dprintf(1, "none: %s\n", strerror(errno));
        return 0;
    }
    MUST(syscall(SYS_getpid) == getpid());
    MUST(syscall(SYS_pwrite64, fd, "abc", 3L, 5L) == 3 && lseek(fd, 0, SEEK_END) == 8);
    return 0;
}
