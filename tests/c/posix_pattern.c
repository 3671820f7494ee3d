/* Makes accesses in known orders: sequential, consecutive, with strides, switches and misalignment, and with
 * known most common sizes. */
#include "posix_expect.h"

enum { ODD_SIZES = 40 };

static char data[8192] __attribute__((aligned(4096)));

/* Uses four strides; a fifth one occurs once and must not be listed. */
static void strides(void)
{
    static const struct {
        off_t gap;
        int times;
    } STEP[] = {{100, 5}, {200, 4}, {300, 3}, {400, 2}, {500, 1}};
    off_t offset = 0;
    int fd = open("strides.dat", O_CREAT | O_RDWR, 0600), writes = 1;
    MUST(pwrite(fd, data, 50, 0) == 50);
    for (size_t i = 0; i < sizeof STEP / sizeof *STEP; i++)
        for (int j = 0; j < STEP[i].times; j++, writes++) {
            offset += 50 + STEP[i].gap;
            MUST(pwrite(fd, data, 50, offset) == 50);
        }
    MUST(pwrite(fd, data, 50, 0) == 50); /* A backward access is neither sequential nor a stride. */
    MUST(close(fd) == 0);
    expect_posix_file("strides.dat");
    EXPECT("POSIX_OPENS", 1);
    EXPECT("POSIX_MODE", 0600);
    EXPECT("POSIX_WRITES", writes + 1);
    EXPECT("POSIX_BYTES_WRITTEN", 50 * (writes + 1));
    EXPECT("POSIX_MAX_BYTE_WRITTEN", offset + 49);
    EXPECT("POSIX_SEQ_WRITES", writes - 1);
    EXPECT("POSIX_FILE_NOT_ALIGNED", writes - 1);
    EXPECT("POSIX_SIZE_WRITE_0_100", writes + 1);
    EXPECT("POSIX_ACCESS1_ACCESS", 50);
    EXPECT("POSIX_ACCESS1_COUNT", writes + 1);
    EXPECT("POSIX_MAX_WRITE_TIME_SIZE", 50);
    EXPECT("POSIX_STRIDE1_STRIDE", 100);
    EXPECT("POSIX_STRIDE1_COUNT", 5);
    EXPECT("POSIX_STRIDE2_STRIDE", 200);
    EXPECT("POSIX_STRIDE2_COUNT", 4);
    EXPECT("POSIX_STRIDE3_STRIDE", 300);
    EXPECT("POSIX_STRIDE3_COUNT", 3);
    EXPECT("POSIX_STRIDE4_STRIDE", 400);
    EXPECT("POSIX_STRIDE4_COUNT", 2);
}

/* Uses more sizes than the recorder tracks, and only then the most common size, which the record must list
 * nevertheless. */
static void late_favourite(void)
{
    long long bytes = 0;
    int fd = open("sizes.dat", O_CREAT | O_RDWR, 0600);
    for (int size = 101; size < 101 + 2 * ODD_SIZES; size += 2, bytes += size - 2)
        MUST(pwrite(fd, data, size, 0) == size);
    for (int i = 0; i < 1000; i++, bytes += 4096)
        MUST(pwrite(fd, data, 4096, 0) == 4096);
    MUST(close(fd) == 0);
    expect_posix_file("sizes.dat");
    EXPECT("POSIX_OPENS", 1);
    EXPECT("POSIX_MODE", 0600);
    EXPECT("POSIX_WRITES", ODD_SIZES + 1000);
    EXPECT("POSIX_BYTES_WRITTEN", bytes);
    EXPECT("POSIX_MAX_BYTE_WRITTEN", 4095);
    EXPECT("POSIX_SIZE_WRITE_100_1K", ODD_SIZES);
    EXPECT("POSIX_SIZE_WRITE_1K_10K", 1000);
    EXPECT("POSIX_ACCESS1_ACCESS", 4096);
    EXPECT("POSIX_ACCESS1_COUNT", 1000);
    for (int i = 2; i <= 4; i++) { /* Any of the sizes that occurred once may be listed. */
        char counter[64];
        snprintf(counter, sizeof counter, "POSIX_ACCESS%d_ACCESS", i);
        EXPECT(counter, -1);
        snprintf(counter, sizeof counter, "POSIX_ACCESS%d_COUNT", i);
        EXPECT(counter, 1);
    }
    EXPECT("POSIX_MAX_WRITE_TIME_SIZE", -1);
}

static void switches(void)
{
    int fd = open("switches.dat", O_CREAT | O_RDWR, 0600);
    for (int i = 0; i < 5; i++) {
        MUST(pwrite(fd, data, 4096, 4096 * i) == 4096);
        MUST(pread(fd, data, 4096, 4096 * i) == 4096);
    }
    MUST(close(fd) == 0);
    expect_posix_file("switches.dat");
    EXPECT("POSIX_OPENS", 1);
    EXPECT("POSIX_MODE", 0600);
    EXPECT("POSIX_READS", 5);
    EXPECT("POSIX_WRITES", 5);
    EXPECT("POSIX_BYTES_READ", 20480);
    EXPECT("POSIX_BYTES_WRITTEN", 20480);
    EXPECT("POSIX_MAX_BYTE_READ", 20479);
    EXPECT("POSIX_MAX_BYTE_WRITTEN", 20479);
    EXPECT("POSIX_CONSEC_READS", 4);
    EXPECT("POSIX_CONSEC_WRITES", 4);
    EXPECT("POSIX_SEQ_READS", 4);
    EXPECT("POSIX_SEQ_WRITES", 4);
    EXPECT("POSIX_RW_SWITCHES", 9);
    EXPECT("POSIX_SIZE_READ_1K_10K", 5);
    EXPECT("POSIX_SIZE_WRITE_1K_10K", 5);
    EXPECT("POSIX_ACCESS1_ACCESS", 4096);
    EXPECT("POSIX_ACCESS1_COUNT", 10);
    EXPECT("POSIX_MAX_READ_TIME_SIZE", 4096);
    EXPECT("POSIX_MAX_WRITE_TIME_SIZE", 4096);
}

int main(void)
{
    strides();
    late_favourite();
    switches();
    return 0;
}
