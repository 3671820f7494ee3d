/* Runs threads that share one file, and threads with a file each. */
#include "posix_expect.h"

#include <pthread.h>

enum { THREADS = 4, CALLS = 2000, PIECE = 64 };

static int shared_fd;

static void *work(void *argument)
{
    char data[PIECE] __attribute__((aligned(8))) = "", name[32];
    int number = (int)(long)argument;
    snprintf(name, sizeof name, "thread%d.dat", number);
    int fd = open(name, O_CREAT | O_RDWR, 0600);
    for (int i = 0; i < CALLS; i++) {
        MUST(pwrite(shared_fd, data, PIECE, 0) == PIECE);
        MUST(write(fd, data, PIECE) == PIECE);
    }
    MUST(close(fd) == 0);
    return NULL;
}

static void expect_writes(const char *name, long long calls)
{
    expect_posix_file(name);
    EXPECT("POSIX_OPENS", 1);
    EXPECT("POSIX_MODE", 0600);
    EXPECT("POSIX_WRITES", calls);
    EXPECT("POSIX_BYTES_WRITTEN", calls * PIECE);
    EXPECT("POSIX_SIZE_WRITE_0_100", calls);
    EXPECT("POSIX_ACCESS1_ACCESS", PIECE);
    EXPECT("POSIX_ACCESS1_COUNT", calls);
    EXPECT("POSIX_MAX_WRITE_TIME_SIZE", PIECE);
}

int main(void)
{
    pthread_t thread[THREADS];
    shared_fd = open("shared.dat", O_CREAT | O_RDWR, 0600);
    for (long i = 0; i < THREADS; i++)
        MUST(pthread_create(&thread[i], NULL, work, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++)
        MUST(pthread_join(thread[i], NULL) == 0);
    MUST(close(shared_fd) == 0);
    expect_writes("shared.dat", THREADS * CALLS);
    EXPECT("POSIX_MAX_BYTE_WRITTEN", PIECE - 1);
    for (int i = 0; i < THREADS; i++) {
        char name[32];
        snprintf(name, sizeof name, "thread%d.dat", i);
        expect_writes(name, CALLS);
        EXPECT("POSIX_MAX_BYTE_WRITTEN", (CALLS * PIECE) - 1);
        EXPECT("POSIX_SEQ_WRITES", CALLS - 1);
        EXPECT("POSIX_CONSEC_WRITES", CALLS - 1);
        EXPECT("POSIX_FILE_NOT_ALIGNED", CALLS - (CALLS * PIECE + 4095) / 4096);
    }
    return 0;
}
