/* Makes requests through rings, by the functions of liburing. */
#include "posix_expect.h"

#include <liburing.h>

int main(void)
{
    static char memory[1 << 20] __attribute__((aligned(4096)));
    struct io_uring ring = {0};
    struct io_uring_params params = {0};
    int failed = io_uring_queue_init(8, &ring, 0);
    if (failed) {
        dprintf(1, "none: %s\n", strerror(-failed));
        return 0;
    }
    io_uring_queue_exit(&ring);
    MUST(io_uring_queue_init_params(8, &ring, &params) == 0);
    io_uring_queue_exit(&ring);
#if IO_URING_VERSION_MAJOR > 2 || (IO_URING_VERSION_MAJOR == 2 && IO_URING_VERSION_MINOR >= 4)
    params = (struct io_uring_params){0};
    io_uring_queue_init_mem(8, &ring, &params, memory, sizeof memory);
#endif
    (void)memory;
    params = (struct io_uring_params){0};
    io_uring_setup(8, &params);
    int fd = open("uring.dat", O_CREAT | O_RDWR, 0600);
    MUST(fd >= 0 && write(fd, "x", 1) == 1);
    return 0;
}
