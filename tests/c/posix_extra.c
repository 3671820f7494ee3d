/* Makes calls without a slot in Darshan's records, and prints "EXTRA path name count" for each and the bytes
 * that they move. */
#include "posix_expect.h"

#include <sys/sendfile.h>

static void expect_extra(const char *name, const char *counter, int count)
{
    char folder[4096];
    MUST(getcwd(folder, sizeof folder));
    dprintf(1, "EXTRA %s/%s %s %d\n", folder, name, counter, count);
}

static void folders(void)
{
    int here = open(".", O_RDONLY | O_DIRECTORY);
    MUST(mkdir("folder", 0700) == 0 && mkdirat(here, "folder/deep", 0700) == 0);
    MUST(mkdir("folder", 0700) == -1);
    MUST(unlinkat(here, "folder/deep", AT_REMOVEDIR) == 0 && rmdir("folder") == 0);
    MUST(close(here) == 0);
    expect_extra("folder", "mkdirs", 1);
    expect_extra("folder", "rmdirs", 1);
    expect_extra("folder/deep", "mkdirs", 1);
    expect_extra("folder/deep", "rmdirs", 1);
}

static void sizes(void)
{
    int fd = open("sized.dat", O_CREAT | O_RDWR, 0600);
    MUST(ftruncate(fd, 100) == 0 && ftruncate64(fd, 200) == 0);
    MUST(truncate("sized.dat", 300) == 0 && truncate64("sized.dat", 400) == 0);
    MUST(posix_fallocate(fd, 0, 4096) == 0 && posix_fallocate64(fd, 0, 4096) == 0);
    MUST(fallocate(fd, 0, 0, 4096) == 0 && fallocate64(fd, 0, 0, 8192) == 0);
    MUST(link("sized.dat", "second.dat") == 0 &&
         linkat(AT_FDCWD, "sized.dat", AT_FDCWD, "third.dat", 0) == 0);
    MUST(unlink("second.dat") == 0 && unlinkat(AT_FDCWD, "third.dat", 0) == 0);
    MUST(close(fd) == 0 && remove("sized.dat") == 0);
    MUST(unlink("missing.dat") == -1);
    expect_extra("sized.dat", "truncates", 4);
    expect_extra("sized.dat", "allocates", 4);
    expect_extra("sized.dat", "links", 2);
    expect_extra("sized.dat", "unlinks", 1);
    expect_extra("second.dat", "unlinks", 1);
    expect_extra("third.dat", "unlinks", 1);
    expect_posix_file("sized.dat");
    EXPECT("POSIX_OPENS", 1);
    EXPECT("POSIX_MODE", 0600);
}

/* Moves 1000 bytes by each of four calls; only the first begins at the file position. */
static void moves(void)
{
    char data[4000] = {1};
    off_t at = 2000;
    off64_t at64 = 3000, to = 500;
    int ends[2], from = open("from.dat", O_CREAT | O_RDWR, 0600),
                 into = open("into.dat", O_CREAT | O_RDWR, 0600);
    MUST(from >= 0 && into >= 0 && write(from, data, sizeof data) == sizeof data &&
         lseek(from, 0, SEEK_SET) == 0);
    MUST(sendfile(into, from, NULL, 1000) == 1000);
    MUST(sendfile(into, from, &at, 1000) == 1000 && sendfile64(into, from, &at64, 1000) == 1000);
    at64 = 1000;
    MUST(copy_file_range(from, &at64, into, &to, 1000, 0) == 1000);
    MUST(pipe(ends) == 0);
    at64 = 0;
    MUST(splice(from, &at64, ends[1], NULL, 1000, 0) == 1000);
    MUST(splice(ends[0], NULL, into, NULL, 1000, 0) == 1000);
    MUST(close(from) == 0 && close(into) == 0 && close(ends[0]) == 0 && close(ends[1]) == 0);
    expect_extra("from.dat", "sendfiles", 3);
    expect_extra("from.dat", "copies", 1);
    expect_extra("from.dat", "splices", 1);
    expect_extra("into.dat", "sendfiles", 3);
    expect_extra("into.dat", "copies", 1);
    expect_extra("into.dat", "splices", 1);
    dprintf(1, "MOVED from.dat %d 0\nMOVED into.dat 0 %d\n", 5000, 5000);
}

static void synchronous(void)
{
    const int flags[] = {O_SYNC, O_DSYNC, 0};
    for (int i = 0; i < 3; i++)
        close(open("synced.dat", O_CREAT | O_WRONLY | flags[i], 0600));
    expect_extra("synced.dat", "sync_opens", 2);
    MUST(unlink("synced.dat") == 0);
    expect_extra("synced.dat", "unlinks", 1);
}

int main(void)
{
    synchronous();
    folders();
    sizes();
    moves();
    return 0;
}
