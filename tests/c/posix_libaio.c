/* Makes requests through libaio: two writes, one of them with a vector, a read, a request that fails, and
 * calls by number. */
#include "posix_expect.h"

#include <libaio.h>
#include <signal.h>
#include <sys/syscall.h>

enum { PIECE = 4096 };

static char data[4][PIECE] __attribute__((aligned(4096)));

int main(void)
{
    io_context_t context = 0;
    struct io_event event[4];
    struct timespec limit = {10, 0};
    struct iovec vector[] = {{data[1], PIECE}, {data[2], PIECE}};
    int fd = open("libaio.dat", O_CREAT | O_RDWR, 0600);
    MUST(fd >= 0 && io_setup(8, &context) == 0);

    struct iocb one, two, *list[] = {&one, &two};
    io_prep_pwrite(&one, fd, data[0], PIECE, 0);
    io_prep_pwritev(&two, fd, vector, 2, PIECE);
    MUST(io_submit(context, 2, list) == 2);
    MUST(io_getevents(context, 2, 4, event, &limit) == 2);

    struct iocb sync, *only[] = {&sync};
    io_prep_fsync(&sync, fd);
    if (io_submit(context, 1, only) == 1)
        MUST(io_getevents(context, 1, 4, event, &limit) == 1);

    struct iocb back, bad, *mixed[] = {&back, &bad};
    io_prep_pread(&back, fd, data[3], PIECE, 2 * PIECE);
    io_prep_pread(&bad, -1, data[3], PIECE, 0);
    MUST(io_submit(context, 2, mixed) == 1);
    /* The kernel has its own copy of the request, so the program may overwrite this one. */
    memset(&back, 0, sizeof back);
    MUST(io_pgetevents(context, 1, 4, event, &limit, NULL) == 1);

    struct iocb past;
    struct iocb *raw[] = {&past};
    io_prep_pwrite(&past, fd, data[0], PIECE, 0);
    MUST(syscall(SYS_io_submit, context, 1L, raw) == 1);
    MUST(syscall(SYS_io_getevents, context, 1L, 4L, event, &limit) == 1);
    MUST(io_destroy(context) == 0 && close(fd) == 0);

    expect_posix_file("libaio.dat");
    EXPECT("POSIX_OPENS", 1);
    EXPECT("POSIX_MODE", 0600);
    EXPECT("POSIX_READS", 1);
    EXPECT("POSIX_WRITES", 2);
    EXPECT("POSIX_BYTES_READ", PIECE);
    EXPECT("POSIX_BYTES_WRITTEN", 3 * PIECE);
    EXPECT("POSIX_MAX_BYTE_READ", 3 * PIECE - 1);
    EXPECT("POSIX_MAX_BYTE_WRITTEN", 3 * PIECE - 1);
    EXPECT("POSIX_SEQ_READS", 1);
    EXPECT("POSIX_SEQ_WRITES", 1);
    EXPECT("POSIX_CONSEC_WRITES", 1);
    EXPECT("POSIX_RW_SWITCHES", 1);
    EXPECT("POSIX_SIZE_READ_1K_10K", 1);
    EXPECT("POSIX_SIZE_WRITE_1K_10K", 2);
    return 0;
}
