/* A program that defines functions under names of the C library: an allocator, and calls that it counts and
 * prints. The recorder's own work must not be counted among these calls. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { HEAP = 1 << 24, UNIT = 16 };

static int calls;

void *malloc(size_t bytes)
{
    static char heap[HEAP] __attribute__((aligned(UNIT)));
    static size_t used;
    size_t begin = __atomic_fetch_add(&used, UNIT + (bytes + UNIT - 1) / UNIT * UNIT, __ATOMIC_RELAXED);
    if (bytes > HEAP || begin + UNIT + bytes > HEAP)
        return NULL;
    *(size_t *)(heap + begin) = bytes;
    return heap + begin + UNIT;
}

void free(void *memory) { (void)memory; }

/* Returns zeroed memory: the allocator of this test never uses memory twice, so it is still zero. */
void *calloc(size_t count, size_t bytes) { return malloc(count * bytes); }

void *realloc(void *memory, size_t bytes)
{
    void *more = malloc(bytes);
    size_t before = memory ? *(size_t *)((char *)memory - UNIT) : 0;
    return more ? memcpy(more, memory ? memory : "", before < bytes ? before : bytes) : NULL;
}

static long counted(long result)
{
    calls++;
    return result;
}

int open(const char *path, int flags, ...)
{
    return (int)counted(syscall(SYS_openat, AT_FDCWD, path, flags, 0600));
}

int close(int fd) { return (int)counted(syscall(SYS_close, fd)); }
ssize_t read(int fd, void *data, size_t bytes) { return counted(syscall(SYS_read, fd, data, bytes)); }
ssize_t write(int fd, const void *data, size_t bytes) { return counted(syscall(SYS_write, fd, data, bytes)); }
int fstat(int fd, struct stat *info) { return (int)counted(syscall(SYS_fstat, fd, info)); }
int unlink(const char *path) { return (int)counted(syscall(SYS_unlinkat, AT_FDCWD, path, 0)); }
int mkdir(const char *path, mode_t mode) { return (int)counted(syscall(SYS_mkdirat, AT_FDCWD, path, mode)); }
int fileno(FILE *stream) { return (int)counted(stream->_fileno); }
int fsync(int fd) { return (int)counted(syscall(SYS_fsync, fd)); }

int rename(const char *from, const char *to)
{
    return (int)counted(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int stat(const char *path, struct stat *info)
{
    return (int)counted(syscall(SYS_newfstatat, AT_FDCWD, path, info, 0));
}

int lstat(const char *path, struct stat *info)
{
    return (int)counted(syscall(SYS_newfstatat, AT_FDCWD, path, info, AT_SYMLINK_NOFOLLOW));
}

int fstatat(int folder, const char *path, struct stat *info, int flags)
{
    return (int)counted(syscall(SYS_newfstatat, folder, path, info, flags));
}

void *mmap(void *at, size_t bytes, int rights, int flags, int fd, off_t offset)
{
    return (void *)counted(syscall(SYS_mmap, at, bytes, rights, flags, fd, offset));
}

int main(void)
{
    struct stat info;
    FILE *stream = fopen("stream.dat", "w");
    int fd = open("own.dat", O_RDWR | O_CREAT);
    write(fd, "text", 4);
    close(fd);
    stat("own.dat", &info);
    fputs("text", stream);
    fclose(stream);
    printf("%d", calls);
    return 3;
}
