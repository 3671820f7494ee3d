/* Moves known bytes through every covered kind of call on DIR/file and prints `written N` and `read N`. */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Functions of glibc that not every version of its headers declares. */
int __dprintf_chk(int fd, int fortify, const char *format, ...);
int __vdprintf_chk(int fd, int fortify, const char *format, va_list list);

#define BLOCK 8192

static char block[BLOCK], copy[BLOCK];
static long written, got;

static void need(int ok, const char *what)
{
    if (!ok) {
        perror(what);
        exit(1);
    }
}

static void plain(int fd)
{
    struct iovec halves[2] = {{block, BLOCK / 2}, {block + BLOCK / 2, BLOCK / 2}};
    need(write(fd, block, BLOCK) == BLOCK, "write");
    need(pwrite(fd, block, BLOCK, 5 * BLOCK) == BLOCK, "pwrite");
    need(writev(fd, halves, 2) == BLOCK, "writev");
    need(pwritev(fd, halves, 2, 2 * BLOCK) == BLOCK, "pwritev");
    written += 4 * BLOCK;
    need(pread(fd, copy, BLOCK, 0) == BLOCK && memcmp(block, copy, BLOCK) == 0, "pread");
    need(lseek(fd, 5 * BLOCK, SEEK_SET) >= 0 && read(fd, copy, BLOCK) == BLOCK, "read");
    got += 2 * BLOCK;
    need(read(fd, copy, BLOCK) == 0, "read at the end");
}

static void asynchronous(int fd)
{
    struct aiocb cb = {.aio_fildes = fd, .aio_buf = block, .aio_nbytes = BLOCK, .aio_offset = 3 * BLOCK};
    const struct aiocb *list[] = {&cb};
    need(aio_write(&cb) == 0, "aio_write");
    while (aio_error(&cb) == EINPROGRESS)
        aio_suspend(list, 1, NULL);
    need(aio_return(&cb) == BLOCK, "aio_return");
    written += BLOCK;
}

static void appended(const char *path)
{
    int fd = open(path, O_WRONLY | O_APPEND);
    need(fd >= 0 && write(fd, block, 100) == 100, "append");
    written += 100;
    close(fd);
}

static void stream(const char *path)
{
    FILE *file = fopen(path, "w");
    need(file != NULL, "fopen");
    for (int i = 0; i < 1000; i++)
        written += fprintf(file, "line %d\n", i);
    fclose(file);
}

/* Moves bytes through streams and descriptors of the same file (freopen, lseek, fdopen): every byte must
 * count once, and a seek is no transfer. */
static void mixed(const char *path, const char *pattern)
{
    char name[4096];
    FILE *file = fopen(path, "w+");
    need(file && fwrite(block, 1, BLOCK, file) == BLOCK, "fwrite");
    need(fseek(file, 100, SEEK_SET) == 0 && fwrite(block, 1, 50, file) == 50, "fseek");
    rewind(file);
    need(fwrite(block, 1, 10, file) == 10 && fflush(file) == 0, "rewind");
    need(lseek(fileno(file), 3 * BLOCK, SEEK_SET) >= 0 && write(fileno(file), block, 20) == 20, "lseek");
    file = freopen(path, "a", file);
    need(file && fprintf(file, "0123456789") == 10 && fclose(file) == 0, "freopen");
    snprintf(name, sizeof name, "%s", pattern);
    int fd = mkstemp(name);
    need(fd >= 0 && dprintf(fd, "%s", "01234") == 5, "mkstemp");
    file = fdopen(fd, "w");
    need(file && fputs("56789", file) >= 0 && fflush(file) == 0, "fdopen");
    need(close_range((unsigned)fd, (unsigned)fd, 0) == 0, "close_range");
    need(truncate(name, 4 * BLOCK) == 0 && unlink(name) == 0, "truncate");
    written += BLOCK + 50 + 10 + 20 + 10 + 5 + 5;
}

static void formatted_list(int fd, int fortified, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    need((fortified ? __vdprintf_chk(fd, 1, format, list) : vdprintf(fd, format, list)) == 5, "vdprintf");
    va_end(list);
}

/* Makes formatted output directly to a descriptor, and creates files with every kind of call. */
static void formatted(const char *folder)
{
    char name[4][4096];
    for (int i = 0; i < 4; i++)
        snprintf(name[i], sizeof name[i], i < 2 ? "%s/sXXXXXX.dat" : "%s/oXXXXXX", folder);
    int fds[] = {mkstemps(name[0], 4), mkostemps(name[1], 4, O_CLOEXEC), mkstemp(name[2]),
                 mkostemp(name[3], O_CLOEXEC)};
    for (int i = 0; i < 4; i++) {
        need(fds[i] >= 0 && __dprintf_chk(fds[i], 1, "%s", "01234") == 5, name[i]);
        formatted_list(fds[i], i % 2, "%d", 56789);
        written += 10;
    }
    closefrom(fds[3]); /* This is the program's highest descriptor, so that closefrom closes no other one. */
    for (int i = 0; i < 4; i++) {
        need(i == 3 || close(fds[i]) == 0, "close");
        need(unlink(name[i]) == 0, "unlink");
    }
}

static void layout(const char *path)
{
    char followed[1024], own[1024];
    ssize_t bytes = getxattr(path, "lustre.lov", followed, sizeof followed);
    need(bytes > 0 && lgetxattr(path, "lustre.lov", own, sizeof own) == bytes, "lgetxattr");
    need(memcmp(followed, own, (size_t)bytes) == 0, "both layouts");
}

/* Checks that all calls that tell the kind of a file system give the same kind. */
static void file_system(const char *path)
{
    struct statfs of_path, of_fd;
    struct statfs64 of_path64, of_fd64;
    int fd = open(path, O_RDONLY), waiting = 0;
    need(statfs(path, &of_path) == 0 && statfs64(path, &of_path64) == 0, "statfs");
    need(fstatfs(fd, &of_fd) == 0 && fstatfs64(fd, &of_fd64) == 0, "fstatfs");
    need(of_path.f_type == of_fd.f_type && of_path64.f_type == of_fd64.f_type, "both kinds");
    need(of_path.f_type == of_path64.f_type && ioctl(fd, FIONREAD, &waiting) == 0, "ioctl");
    close(fd);
}

/* Writes to a stream that stays open, so that its bytes leave the buffer only when the program ends. */
static void left_open(const char *path)
{
    FILE *file = fopen(path, "w");
    need(file && fputs("left in the buffer", file) >= 0, "fputs");
    written += (long)strlen("left in the buffer");
}

static void kernel_copy(const char *from, const char *to)
{
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    off64_t at = 0;
    need(in >= 0 && out >= 0, "open for copying");
    need(copy_file_range(in, &at, out, NULL, BLOCK, 0) == BLOCK, "copy_file_range");
    need(sendfile(out, in, NULL, BLOCK) == BLOCK, "sendfile");
    written += 2 * BLOCK;
    got += 2 * BLOCK;
    close(in);
    close(out);
}

int main(int argc, char **argv)
{
    char path[4096], other[4096];
    if (argc != 2)
        return 2;
    for (int i = 0; i < BLOCK; i++)
        block[i] = (char)(i * 7);
    snprintf(path, sizeof path, "%s/file", argv[1]);
    snprintf(other, sizeof other, "%s/other", argv[1]);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
    need(fd >= 0, path);
    plain(fd);
    asynchronous(fd);
    need(fsync(fd) == 0, "fsync");
    close(fd);
    appended(path);
    layout(path);
    file_system(path);
    formatted(argv[1]);
    kernel_copy(path, other);
    snprintf(other, sizeof other, "%s/text", argv[1]);
    stream(other);
    snprintf(other, sizeof other, "%s/mixed", argv[1]);
    snprintf(path, sizeof path, "%s/XXXXXX", argv[1]);
    mixed(other, path);
    snprintf(other, sizeof other, "%s/left", argv[1]);
    left_open(other);
    printf("written %ld\nread %ld\n", written, got);
    return 0;
}
