/* Makes asynchronous requests. A request counts when its result is collected, and with its own offset, not
 * with the position of the file. */
#include "posix_expect.h"

#include <aio.h>
#include <signal.h>

enum { PIECE = 4096 };

static char data[8][PIECE] __attribute__((aligned(4096)));

static void wait_for(const struct aiocb *control)
{
    const struct aiocb *list[] = {control};
    while (aio_error(control) == EINPROGRESS)
        aio_suspend(list, 1, NULL);
}

static struct aiocb request(int fd, int piece, int opcode)
{
    return (struct aiocb){.aio_fildes = fd,
                          .aio_buf = data[piece],
                          .aio_nbytes = PIECE,
                          .aio_offset = (off_t)PIECE * piece,
                          .aio_lio_opcode = opcode};
}

int main(void)
{
    int fd = open("aio.dat", O_CREAT | O_RDWR, 0600);
    struct aiocb one = request(fd, 0, 0), two = request(fd, 1, 0), back = request(fd, 0, 0),
                 back2 = request(fd, 1, 0);
    MUST(aio_write(&one) == 0);
    wait_for(&one);
    MUST(aio_return(&one) == PIECE);
    MUST(aio_write64((struct aiocb64 *)&two) == 0);
    wait_for(&two);
    MUST(aio_return64((struct aiocb64 *)&two) == PIECE);
    struct aiocb three = request(fd, 2, LIO_WRITE), none = request(fd, 3, LIO_NOP),
                 four = request(fd, 3, LIO_WRITE);
    struct aiocb *list[] = {&three, NULL, &none}, *list64[] = {&four};
    MUST(lio_listio(LIO_WAIT, list, 3, NULL) == 0);
    MUST(aio_return(&three) == PIECE);
    MUST(lio_listio64(LIO_WAIT, (struct aiocb64 *const *)list64, 1, NULL) == 0);
    MUST(aio_return(&four) == PIECE);
    MUST(aio_read(&back) == 0);
    wait_for(&back);
    MUST(aio_return(&back) == PIECE);
    MUST(aio_read64((struct aiocb64 *)&back2) == 0);
    wait_for(&back2);
    MUST(aio_return(&back2) == PIECE);
    MUST(close(fd) == 0);
    expect_posix_file("aio.dat");
    EXPECT("POSIX_OPENS", 1);
    EXPECT("POSIX_MODE", 0600);
    EXPECT("POSIX_READS", 2);
    EXPECT("POSIX_WRITES", 4);
    EXPECT("POSIX_BYTES_READ", 2 * PIECE);
    EXPECT("POSIX_BYTES_WRITTEN", 4 * PIECE);
    EXPECT("POSIX_MAX_BYTE_READ", 2 * PIECE - 1);
    EXPECT("POSIX_MAX_BYTE_WRITTEN", 4 * PIECE - 1);
    EXPECT("POSIX_CONSEC_READS", 1);
    EXPECT("POSIX_CONSEC_WRITES", 3);
    EXPECT("POSIX_SEQ_READS", 1);
    EXPECT("POSIX_SEQ_WRITES", 3);
    EXPECT("POSIX_RW_SWITCHES", 1);
    EXPECT("POSIX_SIZE_READ_1K_10K", 2);
    EXPECT("POSIX_SIZE_WRITE_1K_10K", 4);
    EXPECT("POSIX_ACCESS1_ACCESS", PIECE);
    EXPECT("POSIX_ACCESS1_COUNT", 6);
    EXPECT("POSIX_MAX_READ_TIME_SIZE", PIECE);
    EXPECT("POSIX_MAX_WRITE_TIME_SIZE", PIECE);
    return 0;
}
