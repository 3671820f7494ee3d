/* Gets descriptors in every way. */
#include "posix_expect.h"

extern int __open_2(const char *path, int flags);
extern int __open64_2(const char *path, int flags);
extern int __openat_2(int folder, const char *path, int flags);
extern int __openat64_2(int folder, const char *path, int flags);

static void opened(int fd)
{
    MUST(fd >= 0);
    MUST(close(fd) == 0);
}

static void by_name(void)
{
    int here = openat(AT_FDCWD, ".", O_RDONLY | O_DIRECTORY);
    opened(open("open.dat", O_CREAT | O_RDWR, 0640));
    opened(open64("./open.dat", O_RDWR));
    opened(openat(here, "open.dat", O_RDWR));
    opened(openat64(here, ".//open.dat", O_RDWR));
    opened(__open_2("open.dat", O_RDONLY));
    opened(__open64_2("open.dat", O_RDONLY));
    opened(__openat_2(here, "open.dat", O_RDONLY));
    opened(__openat64_2(here, "open.dat", O_RDONLY));
    opened(creat("open.dat", 0600));
    opened(creat64("open.dat", 0604));
    MUST(mkdir("sub", 0700) == 0);
    opened(open("sub/../open.dat", O_RDONLY));
    opened(here);
    expect_posix_file("open.dat");
    EXPECT("POSIX_OPENS", 11);
    EXPECT("POSIX_MODE", 0604);
}

static void temporary(int (*make)(char *), char *name)
{
    opened(make(name));
    expect_posix_file(name);
    EXPECT("POSIX_OPENS", 1);
}

static int make_o(char *name) { return mkostemp(name, O_APPEND); }

static int make_o64(char *name) { return mkostemp64(name, O_APPEND); }

static int make_s(char *name) { return mkstemps(name, 4); }

static int make_s64(char *name) { return mkstemps64(name, 4); }

static int make_os(char *name) { return mkostemps(name, 4, O_APPEND); }

static int make_os64(char *name) { return mkostemps64(name, 4, O_APPEND); }

static void temporaries(void)
{
    temporary(mkstemp, (char[]){"a.XXXXXX"});
    temporary(mkstemp64, (char[]){"b.XXXXXX"});
    temporary(make_o, (char[]){"c.XXXXXX"});
    temporary(make_o64, (char[]){"d.XXXXXX"});
    temporary(make_s, (char[]){"e.XXXXXX.tmp"});
    temporary(make_s64, (char[]){"f.XXXXXX.tmp"});
    temporary(make_os, (char[]){"g.XXXXXX.tmp"});
    temporary(make_os64, (char[]){"h.XXXXXX.tmp"});
}

/* Checks that copies of a descriptor share the position. */
static void duplicates(void)
{
    char byte[8] __attribute__((aligned(8))) = "1234567";
    int fd = open("dup.dat", O_CREAT | O_RDWR, 0600), copy[5] = {-1, 100, 101, -1, -1};
    MUST((copy[0] = dup(fd)) >= 0);
    MUST(dup2(fd, copy[1]) == copy[1]);
    MUST(dup3(fd, copy[2], O_CLOEXEC) == copy[2]);
    MUST((copy[3] = fcntl(fd, F_DUPFD, 200)) >= 200);
    MUST((copy[4] = fcntl64(fd, F_DUPFD_CLOEXEC, 300)) >= 300);
    MUST(write(fd, byte, 8) == 8);
    for (int i = 0; i < 5; i++)
        MUST(write(copy[i], byte, 8) == 8);
    for (int i = 0; i < 5; i++)
        opened(copy[i]);
    opened(fd);
    expect_posix_file("dup.dat");
    EXPECT("POSIX_OPENS", 6);
    EXPECT("POSIX_DUPS", 5);
    EXPECT("POSIX_MODE", 0600);
    EXPECT("POSIX_WRITES", 6);
    EXPECT("POSIX_BYTES_WRITTEN", 48);
    EXPECT("POSIX_MAX_BYTE_WRITTEN", 47);
    EXPECT("POSIX_CONSEC_WRITES", 5);
    EXPECT("POSIX_SEQ_WRITES", 5);
    EXPECT("POSIX_SIZE_WRITE_0_100", 6);
    EXPECT("POSIX_ACCESS1_ACCESS", 8);
    EXPECT("POSIX_ACCESS1_COUNT", 6);
    EXPECT("POSIX_FILE_NOT_ALIGNED", 5);
    EXPECT("POSIX_MAX_WRITE_TIME_SIZE", 8);
}

/* Checks that a descriptor closed by close_range is forgotten: a pipe gets its number, and the bytes of the
 * pipe may not count for the file. */
static void forgotten(void)
{
    int first = open("range.dat", O_CREAT | O_RDWR, 0600), pipes[2];
    MUST(close_range((unsigned)first, (unsigned)first, 0) == 0);
    MUST(pipe(pipes) == 0 && pipes[0] == first);
    MUST(write(pipes[1], "pipe", 4) == 4);
    char got[4];
    MUST(read(pipes[0], got, 4) == 4);
    expect_posix_file("range.dat");
    EXPECT("POSIX_OPENS", 1);
    EXPECT("POSIX_MODE", 0600);
}

int main(void)
{
    by_name();
    temporaries();
    duplicates();
    forgotten();
    return 0;
}
