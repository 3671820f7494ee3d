/* Makes transfers of known places and sizes for a trace: dxt_segments [calls]. Standard output stays empty.
 */
#include "posix_expect.h"

#include <pthread.h>
#include <sys/uio.h>

static char data[65536];

static void mixed(void)
{
    struct iovec two[2] = {{data, 10}, {data + 100, 20}};
    int fd = open("mixed.dat", O_CREAT | O_RDWR, 0600);
    int copy = dup(fd);
    MUST(write(fd, data, 100) == 100);
    MUST(pwrite(fd, data, 65536, 4096) == 65536);
    MUST(write(copy, data, 7) == 7);
    MUST(writev(fd, two, 2) == 30);
    MUST(lseek(fd, 50, SEEK_SET) == 50);
    MUST(read(fd, data, 64) == 64);
    MUST(readv(copy, two, 2) == 30);
    MUST(pread(fd, data, 4096, 65536) == 4096);
    /* Reads up to the end of the file, so that fewer bytes arrive than were asked for. */
    MUST(pread(fd, data, 4096, 69000) == 632);
    MUST(read(fd, data, 0) == 0);
    MUST(write(-1, data, 1) == -1);
    MUST(close(fd) == 0 && close(copy) == 0);
}

static void appended(void)
{
    int fd = open("appended.dat", O_CREAT | O_WRONLY | O_APPEND, 0600);
    for (int i = 1; i <= 3; i++)
        MUST(write(fd, data, 11 * i) == 11 * i);
    MUST(close(fd) == 0);
}

/* Makes so many calls that the trace needs chunks of all sizes. */
static void many(int calls)
{
    int fd = open("many.dat", O_CREAT | O_RDWR, 0600);
    for (int i = 0; i < calls; i++)
        MUST(pwrite(fd, data, 1 + i % 5, 3L * i) == 1 + i % 5);
    MUST(close(fd) == 0);
}

int main(int count, char **argument)
{
    mixed();
    appended();
    many(count > 1 ? atoi(argument[1]) : 5000);
    return 0;
}
