/* Makes calls for attributes, mapping, flushing and renaming. */
#include "posix_expect.h"

#include <dirent.h>
#include <sys/mman.h>

extern int __xstat(int version, const char *path, struct stat *info);
extern int __xstat64(int version, const char *path, struct stat64 *info);
extern int __lxstat(int version, const char *path, struct stat *info);
extern int __lxstat64(int version, const char *path, struct stat64 *info);
extern int __fxstat(int version, int fd, struct stat *info);
extern int __fxstat64(int version, int fd, struct stat64 *info);
extern int __fxstatat(int version, int folder, const char *path, struct stat *info, int flags);
extern int __fxstatat64(int version, int folder, const char *path, struct stat64 *info, int flags);

enum { STAT_VERSION = 1 };

static void attributes(void)
{
    struct stat info;
    struct stat64 info64;
    struct statx infox;
    int fd = open("meta.dat", O_CREAT | O_RDWR, 0600);
    MUST(stat("meta.dat", &info) == 0 && lstat("meta.dat", &info) == 0 && fstat(fd, &info) == 0);
    MUST(stat64("meta.dat", &info64) == 0 && lstat64("meta.dat", &info64) == 0 && fstat64(fd, &info64) == 0);
    MUST(fstatat(AT_FDCWD, "meta.dat", &info, 0) == 0 && fstatat64(AT_FDCWD, "meta.dat", &info64, 0) == 0);
    MUST(fstatat(fd, "", &info, AT_EMPTY_PATH) == 0);
    MUST(statx(AT_FDCWD, "meta.dat", 0, STATX_BASIC_STATS, &infox) == 0);
    MUST(__xstat(STAT_VERSION, "meta.dat", &info) == 0 && __xstat64(STAT_VERSION, "meta.dat", &info64) == 0);
    MUST(__lxstat(STAT_VERSION, "meta.dat", &info) == 0 &&
         __lxstat64(STAT_VERSION, "meta.dat", &info64) == 0);
    MUST(__fxstat(STAT_VERSION, fd, &info) == 0 && __fxstat64(STAT_VERSION, fd, &info64) == 0);
    MUST(__fxstatat(STAT_VERSION, AT_FDCWD, "meta.dat", &info, 0) == 0);
    MUST(__fxstatat64(STAT_VERSION, AT_FDCWD, "meta.dat", &info64, 0) == 0);
    MUST(stat("missing", &info) == -1 && errno == ENOENT);
    MUST(stat(".", &info) == 0); /* The profiler must not count calls on folders. */
    MUST(ftruncate(fd, 4096) == 0);
    MUST(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED);
    MUST(mmap64(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED);
    MUST(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
    MUST(fsync(fd) == 0 && fdatasync(fd) == 0 && fdatasync(fd) == 0);
    MUST(close(fd) == 0);
    expect_posix_file("meta.dat");
    EXPECT("POSIX_OPENS", 1);
    EXPECT("POSIX_MODE", 0600);
    EXPECT("POSIX_STATS", 18);
    EXPECT("POSIX_MMAPS", 2);
    EXPECT("POSIX_FSYNCS", 1);
    EXPECT("POSIX_FDSYNCS", 2);
}

static void create(const char *name)
{
    int fd = open(name, O_CREAT | O_RDWR, 0600);
    MUST(fd >= 0 && close(fd) == 0);
}

static void renames(void)
{
    create("old.dat");
    create("a.dat");
    create("b.dat");
    MUST(rename("old.dat", "new.dat") == 0);
    MUST(renameat(AT_FDCWD, "a.dat", AT_FDCWD, "new.dat") == 0);
    MUST(renameat2(AT_FDCWD, "b.dat", AT_FDCWD, "new.dat", 0) == 0);
    static const char *const SOURCES[] = {"old.dat", "a.dat", "b.dat"};
    for (int i = 0; i < 3; i++) {
        expect_posix_file(SOURCES[i]);
        EXPECT("POSIX_OPENS", 1);
        EXPECT("POSIX_MODE", 0600);
        EXPECT("POSIX_RENAME_SOURCES", 1);
    }
    expect_posix_file("new.dat");
    EXPECT("POSIX_RENAME_TARGETS", 3);
    /* The value -1 stands for the id of old.dat, which the harness checks by the names in the log. */
    EXPECT("POSIX_RENAMED_FROM", -1);
}

/* Closes a folder and opens another file that gets the number of the folder's descriptor. */
static void folders(void)
{
    int fd = open(".", O_RDONLY | O_DIRECTORY), again;
    DIR *folder = fdopendir(fd);
    MUST(folder && readdir(folder) && closedir(folder) == 0);
    MUST((again = openat(AT_FDCWD, "/dev/null", O_WRONLY)) == fd);
    MUST(write(again, "x", 1) == 1 && close(again) == 0);
}

int main(void)
{
    attributes();
    renames();
    folders();
    return 0;
}
