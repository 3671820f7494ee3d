/* Moves known bytes through every covered kind of call on DIR/file and prints `written N` and `read N`. */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

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
    kernel_copy(path, other);
    snprintf(other, sizeof other, "%s/text", argv[1]);
    stream(other);
    printf("written %ld\nread %ld\n", written, got);
    return 0;
}
