/* Makes calls on files through a ring of liburing: opens into descriptors and slots, chains, vectors, a
 * splice, a close, and calls that change names. Prints the values that the log must have. */
#include "posix_expect.h"

#include <liburing.h>

enum { PIECE = 4096 };

static struct io_uring ring;
static char data[4 * PIECE] __attribute__((aligned(4096)));
static const struct iovec vector[] = {{data, 100}, {data + 8, 200}};

static struct io_uring_sqe *next(void)
{
    struct io_uring_sqe *request = io_uring_get_sqe(&ring);
    MUST(request);
    return request;
}

/* Submits what was prepared, waits for `count` completions, and returns the result of the last one. */
static int run(unsigned count)
{
    struct io_uring_cqe *done;
    int result = 0;
    MUST(io_uring_submit(&ring) >= 0);
    for (unsigned i = 0; i < count; i++) {
        MUST(io_uring_wait_cqe(&ring, &done) == 0);
        result = done->res;
        io_uring_cqe_seen(&ring, done);
    }
    return result;
}

static void by_descriptor(void)
{
    io_uring_prep_openat(next(), AT_FDCWD, "ring.dat", O_CREAT | O_RDWR | O_TRUNC, 0600);
    int fd = run(1);
    MUST(fd >= 0);
    io_uring_prep_write(next(), fd, data, PIECE, 0);
    MUST(run(1) == PIECE);
    io_uring_prep_writev(next(), fd, vector, 2, PIECE);
    MUST(run(1) == 300);
    io_uring_prep_read(next(), fd, data, PIECE, -1);
    MUST(run(1) == PIECE && lseek(fd, 0, SEEK_CUR) == PIECE);
    /* This request fails with EFAULT, because its memory is at address 0. */
    io_uring_prep_read(next(), fd, NULL, PIECE, 0);
    MUST(run(1) == -EFAULT);
    io_uring_prep_fsync(next(), fd, 0);
    MUST(run(1) == 0);
    io_uring_prep_fsync(next(), fd, IORING_FSYNC_DATASYNC);
    MUST(run(1) == 0);
    io_uring_prep_fallocate(next(), fd, 0, 0, 2 * PIECE);
    MUST(run(1) == 0);
    /* Calls of the C library must still know the descriptor that the ring opened. */
    MUST(pwrite(fd, "x", 1, 9000) == 1);
    io_uring_prep_close(next(), fd);
    MUST(run(1) == 0 && fcntl(fd, F_GETFD) == -1);
    expect_posix_file("ring.dat");
    EXPECT("POSIX_OPENS", 1);
    EXPECT("POSIX_SEEKS", 1);
    EXPECT("POSIX_READS", 1);
    EXPECT("POSIX_WRITES", 3);
    EXPECT("POSIX_FSYNCS", 1);
    EXPECT("POSIX_FDSYNCS", 1);
    EXPECT("POSIX_BYTES_READ", PIECE);
    EXPECT("POSIX_BYTES_WRITTEN", PIECE + 301);
    EXPECT("POSIX_MAX_BYTE_READ", PIECE - 1);
    EXPECT("POSIX_MAX_BYTE_WRITTEN", 9000);
    EXPECT("POSIX_MODE", 0600);
}

/* Opens, writes, reads and closes in one chain, without a descriptor. */
static void by_slot(void)
{
    struct io_uring_sqe *request = next();
    io_uring_prep_openat_direct(request, AT_FDCWD, "slot.dat", O_CREAT | O_RDWR | O_TRUNC, 0600, 1);
    request->flags |= IOSQE_IO_LINK;
    request = next();
    io_uring_prep_write(request, 1, data, 3 * PIECE, 0);
    request->flags |= IOSQE_FIXED_FILE | IOSQE_IO_LINK;
    request = next();
    io_uring_prep_read(request, 1, data, PIECE, PIECE);
    request->flags |= IOSQE_FIXED_FILE | IOSQE_IO_LINK;
    io_uring_prep_close_direct(next(), 1);
    MUST(run(4) == 0);
    /* The functions through_pipe and other_functions read from this file, too. */
    expect_posix_file("slot.dat");
    EXPECT("POSIX_OPENS", 3);
    EXPECT("POSIX_STATS", 1);
    EXPECT("POSIX_READS", 1 + 1 + 9);
    EXPECT("POSIX_WRITES", 1);
    EXPECT("POSIX_BYTES_READ", PIECE + 1000 + 126);
    EXPECT("POSIX_BYTES_WRITTEN", 3 * PIECE);
    EXPECT("POSIX_MAX_BYTE_READ", 2 * PIECE - 1);
    EXPECT("POSIX_MAX_BYTE_WRITTEN", 3 * PIECE - 1);
    EXPECT("POSIX_RW_SWITCHES", 1);
    EXPECT("POSIX_MODE", 0600);
}

/* Registers a file in append mode, closes its descriptor, and writes to the file by its slot. */
static void by_table(void)
{
    int files[] = {-1, -1, open("append.dat", O_CREAT | O_WRONLY | O_APPEND | O_TRUNC, 0600)};
    MUST(files[2] >= 0 && write(files[2], "head", 4) == 4);
    MUST(io_uring_register_files_update(&ring, 0, files, 3) == 3 && close(files[2]) == 0);
    for (int i = 0; i < 2; i++) {
        struct io_uring_sqe *request = next();
        io_uring_prep_write(request, 2, data, 10, 0);
        request->flags |= IOSQE_FIXED_FILE;
        MUST(run(1) == 10);
    }
    expect_posix_file("append.dat");
    EXPECT("POSIX_OPENS", 1);
    EXPECT("POSIX_WRITES", 3);
    EXPECT("POSIX_BYTES_WRITTEN", 24);
    EXPECT("POSIX_MAX_BYTE_WRITTEN", 23);
    EXPECT("POSIX_SEQ_WRITES", 2);
    EXPECT("POSIX_CONSEC_WRITES", 1); /* The close ends the sequence of consecutive writes. */
    EXPECT("POSIX_MODE", 0600);
}

/* Makes requests on names: a failed open, a status, a rename, a hard link, folders, the removal of a file. */
static void by_name(void)
{
    struct statx status;
    io_uring_prep_openat(next(), AT_FDCWD, "missing", O_RDONLY, 0);
    MUST(run(1) == -ENOENT);
    /* The path is not readable memory, so that the kernel refuses the request. */
    io_uring_prep_openat(next(), AT_FDCWD, (const char *)8, O_RDONLY, 0);
    MUST(run(1) == -EFAULT);
    io_uring_prep_statx(next(), AT_FDCWD, "slot.dat", 0, STATX_BASIC_STATS, &status);
    MUST(run(1) == 0);
    io_uring_prep_statx(next(), AT_FDCWD, "missing", 0, STATX_BASIC_STATS, &status);
    MUST(run(1) == -ENOENT);
    io_uring_prep_mkdirat(next(), AT_FDCWD, "folder", 0700);
    MUST(run(1) == 0);
    io_uring_prep_linkat(next(), AT_FDCWD, "slot.dat", AT_FDCWD, "folder/link", 0);
    MUST(run(1) == 0);
    io_uring_prep_unlinkat(next(), AT_FDCWD, "folder/link", 0);
    MUST(run(1) == 0);
    io_uring_prep_unlinkat(next(), AT_FDCWD, "folder", AT_REMOVEDIR);
    MUST(run(1) == 0);
    io_uring_prep_renameat(next(), AT_FDCWD, "append.dat", AT_FDCWD, "renamed.dat", 0);
    MUST(run(1) == 0);
}

/* Moves bytes from a file into a pipe, and bytes through the pipe, which is no file. */
static void through_pipe(void)
{
    int ends[2], fd = open("slot.dat", O_RDONLY);
    MUST(fd >= 0 && pipe(ends) == 0);
    io_uring_prep_splice(next(), fd, 0, ends[1], -1, 1000, 0);
    MUST(run(1) == 1000);
    io_uring_prep_read(next(), ends[0], data, 1000, 0);
    MUST(run(1) == 1000);
    MUST(close(fd) == 0 && close(ends[0]) == 0 && close(ends[1]) == 0);
}

/* Makes two requests that ask for no completion, and one that waits for both. */
static void in_silence(void)
{
    int fd = open("silent.dat", O_CREAT | O_WRONLY | O_TRUNC, 0600);
    MUST(fd >= 0);
    for (int i = 0; i < 3; i++) {
        struct io_uring_sqe *request = next();
        io_uring_prep_write(request, fd, data, 50, 50 * i);
        request->flags |= i < 2 ? IOSQE_CQE_SKIP_SUCCESS | IOSQE_IO_LINK : 0;
    }
    MUST(run(1) == 50 && close(fd) == 0);
}

/* Calls the functions that nothing above has called. */
static void other_functions(void)
{
    struct io_uring_cqe *done, *several[4];
    struct __kernel_timespec limit = {.tv_sec = 10};
    int fds[] = {-1};
    int fd = open("slot.dat", O_RDONLY);
    for (int way = 0; way < 9; way++) {
        io_uring_prep_read(next(), fd, data, 10 + way, 0);
        if (way == 0)
            MUST(io_uring_submit_and_wait(&ring, 1) == 1);
        else if (way == 1)
            MUST(io_uring_submit_and_wait_timeout(&ring, &done, 1, &limit, NULL) >= 0);
        else if (way == 2)
            MUST(io_uring_submit_and_get_events(&ring) == 1 && io_uring_wait_cqe(&ring, &done) == 0);
        else if (way == 3)
            MUST(io_uring_submit(&ring) == 1 && io_uring_wait_cqe_timeout(&ring, &done, &limit) == 0);
        else if (way == 4)
            MUST(io_uring_submit(&ring) == 1 && io_uring_wait_cqes(&ring, &done, 1, &limit, NULL) == 0);
        else if (way == 5)
            MUST(io_uring_submit(&ring) == 1 &&
                 io_uring_enter(ring.ring_fd, 0, 1, IORING_ENTER_GETEVENTS, NULL) == 0);
        else if (way == 6)
            MUST(io_uring_submit(&ring) == 1 &&
                 io_uring_enter2(ring.ring_fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 0);
        else if (way == 7)
            MUST(io_uring_submit(&ring) == 1 && io_uring_get_events(&ring) == 0 &&
                 __io_uring_get_cqe(&ring, &done, 0, 1, NULL) == 0);
        else
            MUST(io_uring_submit(&ring) == 1 && io_uring_wait_cqe(&ring, &done) == 0);
        MUST(io_uring_peek_batch_cqe(&ring, several, 4) == 1 && several[0]->res == 10 + way);
        io_uring_cqe_seen(&ring, several[0]);
    }
    MUST(io_uring_register_files_update_tag(&ring, 0, fds, NULL, 1) == 1);
    MUST(io_uring_unregister_files(&ring) == 0);
    MUST(io_uring_register_files_tags(&ring, fds, (const __u64[]){0}, 1) == 0 &&
         io_uring_unregister_files(&ring) == 0);
    MUST(io_uring_register(ring.ring_fd, IORING_REGISTER_FILES, fds, 1) == 0 &&
         io_uring_unregister_files(&ring) == 0);
    MUST(io_uring_register_files(&ring, fds, 1) == 0 && close(fd) == 0);
}

int main(void)
{
    int failed = io_uring_queue_init(8, &ring, 0);
    if (failed) {
        dprintf(1, "none: %s\n", strerror(-failed));
        return 0;
    }
    MUST(io_uring_register_files_sparse(&ring, 4) == 0);
    by_descriptor();
    by_slot();
    by_table();
    by_name();
    through_pipe();
    in_silence();
    other_functions();
    io_uring_queue_exit(&ring);
    return 0;
}
