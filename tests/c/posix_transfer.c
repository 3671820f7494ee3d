/* Makes every call that moves bytes, and transfers with sizes on both sides of each bound of a size bucket.
 */
#include "posix_expect.h"

#include <stdarg.h>
#include <sys/uio.h>

extern ssize_t __read_chk(int fd, void *memory, size_t bytes, size_t room);
extern ssize_t __pread_chk(int fd, void *memory, size_t bytes, off_t offset, size_t room);
extern ssize_t __pread64_chk(int fd, void *memory, size_t bytes, off64_t offset, size_t room);

extern int __dprintf_chk(int fd, int fortify, const char *format, ...);
extern int __vdprintf_chk(int fd, int fortify, const char *format, va_list list);

static char data[4096] __attribute__((aligned(4096)));

/* Writes the first 512 bytes by eight calls of 64 bytes each: two at the file position, six at given
 * offsets. */
static void write_all(int fd)
{
    struct iovec two[2] = {{data, 32}, {data + 32, 32}};
    MUST(write(fd, data, 64) == 64);
    MUST(writev(fd, two, 2) == 64);
    MUST(pwrite(fd, data, 64, 128) == 64);
    MUST(pwrite64(fd, data, 64, 192) == 64);
    MUST(pwritev(fd, two, 2, 256) == 64);
    MUST(pwritev64(fd, two, 2, 320) == 64);
    MUST(pwritev2(fd, two, 2, 384, 0) == 64);
    MUST(pwritev64v2(fd, two, 2, 448, 0) == 64);
}

static void read_all(int fd)
{
    struct iovec two[2] = {{data, 32}, {data + 32, 32}};
    MUST(lseek(fd, 0, SEEK_SET) == 0);
    MUST(read(fd, data, 64) == 64);
    MUST(__read_chk(fd, data, 64, 64) == 64);
    MUST(readv(fd, two, 2) == 64);
    MUST(pread(fd, data, 64, 192) == 64);
    MUST(pread64(fd, data, 64, 256) == 64);
    MUST(__pread_chk(fd, data, 64, 320, 64) == 64);
    MUST(__pread64_chk(fd, data, 64, 384, 64) == 64);
    MUST(preadv(fd, two, 2, 448) == 64);
    MUST(preadv64(fd, two, 2, 0) == 64);
    MUST(preadv2(fd, two, 2, 64, 0) == 64);
    MUST(preadv64v2(fd, two, 2, -1, 0) == 64); /* The offset -1 means the file position, which is 192 here. */
    MUST(lseek64(fd, 0, SEEK_END) == 512);
    MUST(read(fd, data, 64) == 0);
}

static void calls(void)
{
    int fd = open("calls.dat", O_CREAT | O_RDWR, 0600);
    write_all(fd);
    read_all(fd);
    MUST(pread(fd, data + 1, 64, 0) == 64); /* The memory is not aligned, because its address is odd. */
    MUST(read(-1, data, 64) == -1 && errno == EBADF);
    MUST(close(fd) == 0);
    expect_posix_file("calls.dat");
    EXPECT("POSIX_OPENS", 1);
    EXPECT("POSIX_MODE", 0600);
    EXPECT("POSIX_READS", 13);
    EXPECT("POSIX_WRITES", 8);
    EXPECT("POSIX_SEEKS", 2);
    EXPECT("POSIX_BYTES_READ", 12 * 64);
    EXPECT("POSIX_BYTES_WRITTEN", 512);
    EXPECT("POSIX_MAX_BYTE_READ", 511);
    EXPECT("POSIX_MAX_BYTE_WRITTEN", 511);
    EXPECT("POSIX_CONSEC_WRITES", 7);
    EXPECT("POSIX_SEQ_WRITES", 7);
    /* The first eight reads lie one after the other up to 512; later the read at 64 follows the one at 0. */
    EXPECT("POSIX_CONSEC_READS", 7 + 1);
    EXPECT("POSIX_SEQ_READS", 7 + 1 + 2); /* The reads at 192 and 512 lie behind the reads before them, at 64
                                           * and 192. */
    EXPECT("POSIX_STRIDE1_STRIDE", 512 - 256);
    EXPECT("POSIX_STRIDE1_COUNT", 1);
    EXPECT("POSIX_STRIDE2_STRIDE", 192 - 128);
    EXPECT("POSIX_STRIDE2_COUNT", 1);
    EXPECT("POSIX_RW_SWITCHES", 1);
    EXPECT("POSIX_MEM_NOT_ALIGNED", 1);
    EXPECT("POSIX_FILE_NOT_ALIGNED", 7 + 10); /* All offsets except 0 are unaligned. */
    EXPECT("POSIX_SIZE_READ_0_100", 13);
    EXPECT("POSIX_SIZE_WRITE_0_100", 8);
    EXPECT("POSIX_ACCESS1_ACCESS", 64);
    EXPECT("POSIX_ACCESS1_COUNT", 20);
    EXPECT("POSIX_MAX_WRITE_TIME_SIZE", 64);
    /* The value -1 stands for any value: the size is 64, or 0 if the read at the end of the file took
       longest. */
    EXPECT("POSIX_MAX_READ_TIME_SIZE", -1);
}

/* Makes two reads for each bound between two buckets: one of as many bytes, which belongs to the lower
 * bucket, and one of a byte more. The file is sparse, so that it needs no room. */
static void buckets(void)
{
    static const long long BOUND[] = {100, 1024, 10240, 102400, 1048576, 4194304, 10485760, 104857600};
    static const char *const NAME[] = {"0_100", "100_1K", "1K_10K",   "10K_100K", "100K_1M",
                                       "1M_4M", "4M_10M", "10M_100M", "100M_1G"};
    const int bounds = sizeof BOUND / sizeof *BOUND;
    char counter[64], *memory = malloc(BOUND[bounds - 1] + 1);
    long long total = 0;
    int fd = open("buckets.dat", O_CREAT | O_RDWR, 0600);
    MUST(memory && ftruncate(fd, BOUND[bounds - 1] + 1) == 0);
    for (int i = 0; i < bounds; i++) {
        MUST(pread(fd, memory, BOUND[i], 0) == BOUND[i]);
        MUST(pread(fd, memory, BOUND[i] + 1, 0) == BOUND[i] + 1);
        total += 2 * BOUND[i] + 1;
    }
    MUST(close(fd) == 0);
    free(memory);
    expect_posix_file("buckets.dat");
    EXPECT("POSIX_OPENS", 1);
    EXPECT("POSIX_MODE", 0600);
    EXPECT("POSIX_READS", 2 * bounds);
    EXPECT("POSIX_BYTES_READ", total);
    EXPECT("POSIX_MAX_BYTE_READ", BOUND[bounds - 1]);
    for (int i = 0; i <= bounds; i++) {
        snprintf(counter, sizeof counter, "POSIX_SIZE_READ_%s", NAME[i]);
        EXPECT(counter, i == 0 || i == bounds ? 1 : 2);
    }
    for (int i = 0; i < 4; i++) { /* All sizes occur once, so the four largest are listed. */
        snprintf(counter, sizeof counter, "POSIX_ACCESS%d_ACCESS", i + 1);
        EXPECT(counter, BOUND[bounds - 1 - i / 2] + 1 - i % 2);
        snprintf(counter, sizeof counter, "POSIX_ACCESS%d_COUNT", i + 1);
        EXPECT(counter, 1);
    }
    EXPECT("POSIX_MAX_READ_TIME_SIZE", -1);
}

/* Writes to a file in append mode: such writes go to the end of the file, whatever the position is. */
static void append(void)
{
    int fd = open("append.dat", O_CREAT | O_WRONLY, 0600);
    MUST(pwrite(fd, data, 1000, 0) == 1000);
    MUST(close(fd) == 0);
    fd = open("append.dat", O_WRONLY | O_APPEND);
    MUST(write(fd, data, 24) == 24);
    MUST(lseek(fd, 0, SEEK_SET) == 0);
    MUST(write(fd, data, 24) == 24);
    MUST(close(fd) == 0);
    expect_posix_file("append.dat");
    EXPECT("POSIX_OPENS", 2);
    EXPECT("POSIX_MODE", 0600);
    EXPECT("POSIX_WRITES", 3);
    EXPECT("POSIX_SEEKS", 1);
    EXPECT("POSIX_BYTES_WRITTEN", 1048);
    EXPECT("POSIX_MAX_BYTE_WRITTEN", 1047);
    /* The record forgets the last byte when the file is opened again, so the write at 1000 is the first
     * one. */
    EXPECT("POSIX_SEQ_WRITES", 2);
    EXPECT("POSIX_CONSEC_WRITES", 1);
    EXPECT("POSIX_FILE_NOT_ALIGNED", 2);
    EXPECT("POSIX_SIZE_WRITE_0_100", 2);
    EXPECT("POSIX_SIZE_WRITE_100_1K", 1);
    EXPECT("POSIX_ACCESS1_ACCESS", 24);
    EXPECT("POSIX_ACCESS1_COUNT", 2);
    EXPECT("POSIX_ACCESS2_ACCESS", 1000);
    EXPECT("POSIX_ACCESS2_COUNT", 1);
    EXPECT("POSIX_MAX_WRITE_TIME_SIZE", -1);
}

static void by_list(int fd, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    MUST(vdprintf(fd, format, list) == 4);
    va_end(list);
    va_start(list, format);
    MUST(__vdprintf_chk(fd, 1, format, list) == 4);
    va_end(list);
}

/* Prints to a descriptor, which is a write unless the text is empty. */
static void print(void)
{
    int fd = open("print.dat", O_CREAT | O_WRONLY, 0600);
    MUST(dprintf(fd, "%s", "text") == 4);
    MUST(__dprintf_chk(fd, 1, "%s", "text") == 4);
    MUST(dprintf(fd, "%s", "") == 0);
    by_list(fd, "%s", "text");
    MUST(close(fd) == 0);
    expect_posix_file("print.dat");
    EXPECT("POSIX_OPENS", 1);
    EXPECT("POSIX_MODE", 0600);
    EXPECT("POSIX_WRITES", 4);
    EXPECT("POSIX_BYTES_WRITTEN", 16);
    EXPECT("POSIX_MAX_BYTE_WRITTEN", 15);
    EXPECT("POSIX_SEQ_WRITES", 3);
    EXPECT("POSIX_CONSEC_WRITES", 3);
    EXPECT("POSIX_FILE_NOT_ALIGNED", 3);
    EXPECT("POSIX_SIZE_WRITE_0_100", 4);
    EXPECT("POSIX_ACCESS1_ACCESS", 4);
    EXPECT("POSIX_ACCESS1_COUNT", 4);
    EXPECT("POSIX_MAX_WRITE_TIME_SIZE", -1);
}

int main(void)
{
    print();
    calls();
    buckets();
    append();
    return 0;
}
