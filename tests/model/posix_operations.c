/* Calls on descriptors and names, one function each; the table at the end has their names in call lists. */
#include "interpreter.h"

#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define RUN(name) static void run_##name(struct state *s, const struct arg *a, struct entry *e)

enum { MAX_PARTS = 1024 };

/* Returns the descriptor of a slot; for an empty slot, a descriptor that is closed. */
static int fd_in(const struct state *s, struct arg a) { return a.number < 0 ? AT_FDCWD : s->fds[a.number]; }

static void put_fd(struct state *s, struct arg a, const struct entry *e)
{
    if (e->result >= 0)
        s->fds[a.number] = (int)e->result;
}

/* Divides the bytes of a transfer into parts. Every part uses the same page, so that a gigabyte needs no
 * memory. Part 0 gets the remaining bytes. */
static int parts_of(struct iovec *parts, struct arg bytes, struct arg count, struct arg misalign)
{
    int n = count.number < 1 ? 1 : count.number > MAX_PARTS ? MAX_PARTS : (int)count.number;
    size_t each = (size_t)(bytes.number / n);
    for (int i = 0; i < n; i++)
        parts[i] = (struct iovec){transfer_buffer(misalign.number), each};
    parts[0].iov_len += (size_t)bytes.number - each * (size_t)n;
    return n;
}

/* open SLOT PATH FLAGS MODE: opens PATH into SLOT */
#define RUN_OPEN(name, call)                                                                                 \
    RUN(name)                                                                                                \
    {                                                                                                        \
        TIMED(e, call);                                                                                      \
        put_fd(s, a[0], e);                                                                                  \
    }
RUN_OPEN(open, open(a[1].text, (int)a[2].number, (mode_t)a[3].number))
RUN_OPEN(open64, open64(a[1].text, (int)a[2].number, (mode_t)a[3].number))
RUN_OPEN(creat, creat(a[1].text, (mode_t)a[2].number))
RUN_OPEN(creat64, creat64(a[1].text, (mode_t)a[2].number))
/* openat SLOT FOLDER-SLOT|-1 PATH FLAGS MODE: opens PATH below the folder in FOLDER-SLOT, or below the
 * working directory, into SLOT */
RUN_OPEN(openat, openat(fd_in(s, a[1]), a[2].text, (int)a[3].number, (mode_t)a[4].number))
RUN_OPEN(openat64, openat64(fd_in(s, a[1]), a[2].text, (int)a[3].number, (mode_t)a[4].number))
/* openat2 SLOT FOLDER-SLOT|-1 PATH FLAGS MODE: makes the system call by its number, because the C library has
 * no function for it */
static long by_number(int folder, const char *path, int64_t flags, int64_t mode)
{
    struct {
        uint64_t flags, mode, resolve;
    } how = {(uint64_t)flags, flags & O_CREAT ? (uint64_t)mode : 0, 0};
    return syscall(437, folder, path, &how, sizeof how);
}
RUN_OPEN(openat2, by_number(fd_in(s, a[1]), a[2].text, a[3].number, a[4].number))
/* dup NEW-SLOT SLOT */
RUN_OPEN(dup, dup(fd_in(s, a[1])))
/* fcntl_dupfd NEW-SLOT SLOT LEAST: copies the descriptor in SLOT to the lowest free number that is at least
 * LEAST */
RUN_OPEN(fcntl_dupfd, fcntl(fd_in(s, a[1]), F_DUPFD, (int)a[2].number))
RUN_OPEN(fcntl_dupfd_cloexec, fcntl64(fd_in(s, a[1]), F_DUPFD_CLOEXEC, (int)a[2].number))

/* dup2 NEW-SLOT SLOT: copies the descriptor in SLOT to the number of the one in NEW-SLOT, or to a free number
 * if that slot is empty; extra: the number. */
static int target_of(const struct state *s, struct arg a)
{
    return s->fds[a.number] >= 0 ? s->fds[a.number] : 200 + (int)a.number;
}
RUN(dup2)
{
    int target = target_of(s, a[0]);
    e->extra[0] = target;
    e->result = -1;
    if (stream_holds(s, target))
        return;
    TIMED(e, dup2(fd_in(s, a[1]), target));
    put_fd(s, a[0], e);
}
RUN(dup3)
{
    int target = target_of(s, a[0]);
    e->extra[0] = target;
    e->result = -1;
    if (stream_holds(s, target))
        return;
    TIMED(e, dup3(fd_in(s, a[1]), target, O_CLOEXEC));
    put_fd(s, a[0], e);
}

/* stdout_to SLOT: dup2 onto the standard output, which stdout_back reverses if the output was open; the
 * result is 1 or -1 */
enum { OUTPUT_NOT_KEPT = -1, OUTPUT_CLOSED = -2 };
RUN(stdout_to)
{
    if (s->output == OUTPUT_NOT_KEPT &&
        (s->output = (int)system_call(SYS_fcntl, STDOUT_FILENO, F_DUPFD_CLOEXEC, 900)) < 0)
        s->output = OUTPUT_CLOSED;
    TIMED(e, dup2(fd_in(s, a[0]), STDOUT_FILENO));
}
RUN(stdout_back)
{
    (void)a;
    e->result = -1;
    if (s->output >= 0) {
        TIMED(e, dup2(s->output, STDOUT_FILENO));
        system_call(SYS_close, s->output);
    }
    s->output = OUTPUT_NOT_KEPT;
}

/* spawn CHILD IN-SLOT|-1 OUT-SLOT|-1; spawn_by_fork …: runs the lines after `child CHILD` in a process of
 * their own, and waits for it. The child has the open descriptors in the same slots, its standard input in
 * slot 62 and its output in slot 63. */
static int handed(const struct state *s, struct arg a)
{
    int fd = a.number < 0 ? -1 : fd_in(s, a);
    return stream_holds(s, fd) ? -1 : fd;
}
RUN(spawn)
{
    TIMED(e, run_child(s, a[0].number, handed(s, a[1]), handed(s, a[2]), 0));
    ask_positions(s);
}
RUN(spawn_by_fork)
{
    TIMED(e, run_child(s, a[0].number, handed(s, a[1]), handed(s, a[2]), 1));
    ask_positions(s);
}
/* inherits SLOT, of a child: the result is the descriptor's flags; extra is the path of its file below the
 * working directory, empty if it has none; before is a lower descriptor of the same open file, -1 if there is
 * none */
static int64_t shared_with(int fd)
{
    enum { SAME_OPEN_FILE = 0 };
    int pid = getpid();
    for (int other = 0; other < fd; other++)
        if (system_call(SYS_kcmp, pid, pid, SAME_OPEN_FILE, (long)fd, (long)other) == 0)
            return other;
    return -1;
}
RUN(inherits)
{
    char link[64], path[4096] = "", folder[4096];
    struct stat st;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd_in(s, a[0]));
    TIMED(e, system_call(SYS_fcntl, fd_in(s, a[0]), F_GETFL));
    e->before = shared_with(fd_in(s, a[0]));
    long length = system_call(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    size_t above = (size_t)system_call(SYS_getcwd, folder, sizeof folder);
    bool is_file = system_call(SYS_fstat, fd_in(s, a[0]), &st) == 0 && S_ISREG(st.st_mode);
    if (is_file && length > (long)above && !strstr(path, " (deleted)") &&
        strlen(path + above) < sizeof e->extra)
        strcpy((char *)e->extra, path + above);
}

/* mkstemp SLOT PATH: PATH gets XXXXXX, and a suffix of 2 letters for mkstemps; extra: the six letters that
 * took the place of XXXXXX. */
static char *template_of(struct arg path, const char *suffix)
{
    char *name = NULL;
    if (asprintf(&name, "%sXXXXXX%s", path.text, suffix) < 0)
        abort();
    return name;
}
static void note_letters(struct entry *e, char *name, const char *suffix)
{
    memcpy(e->extra, name + strlen(name) - strlen(suffix) - 6, 6);
    free(name);
}
RUN(mkstemp)
{
    char *name = template_of(a[1], "");
    TIMED(e, mkstemp(name));
    put_fd(s, a[0], e);
    note_letters(e, name, "");
}
RUN(mkostemps)
{
    char *name = template_of(a[1], ".x");
    TIMED(e, mkostemps(name, 2, O_APPEND));
    put_fd(s, a[0], e);
    note_letters(e, name, ".x");
}

/* close SLOT: closes the descriptor in SLOT; skipped with result -1 if a stream holds it */
RUN(close)
{
    e->result = -1;
    if (stream_holds(s, fd_in(s, a[0])))
        return;
    TIMED(e, close(fd_in(s, a[0])));
    s->fds[a[0].number] = -1;
}
/* close_range SLOT: closes the range that consists of this one descriptor */
RUN(close_range)
{
    unsigned fd = (unsigned)fd_in(s, a[0]);
    e->result = -1;
    if ((int)fd < 0 || stream_holds(s, (int)fd))
        return;
    TIMED(e, close_range(fd, fd, 0));
    s->fds[a[0].number] = -1;
}

#define RUN_CALL(name, call)                                                                                 \
    RUN(name)                                                                                                \
    {                                                                                                        \
        (void)s;                                                                                             \
        (void)a;                                                                                             \
        TIMED(e, call);                                                                                      \
    }
/* read SLOT BYTES [MISALIGN]; pread SLOT BYTES OFFSET [MISALIGN]: the memory lies MISALIGN bytes after the
 * begin of a page */
RUN_CALL(read, read(fd_in(s, a[0]), transfer_buffer(a[2].number), (size_t)a[1].number))
RUN_CALL(write, write(fd_in(s, a[0]), transfer_buffer(a[2].number), (size_t)a[1].number))
RUN_CALL(pread, pread(fd_in(s, a[0]), transfer_buffer(a[3].number), (size_t)a[1].number, a[2].number))
RUN_CALL(pwrite, pwrite(fd_in(s, a[0]), transfer_buffer(a[3].number), (size_t)a[1].number, a[2].number))
RUN_CALL(pread64, pread64(fd_in(s, a[0]), transfer_buffer(a[3].number), (size_t)a[1].number, a[2].number))
RUN_CALL(pwrite64, pwrite64(fd_in(s, a[0]), transfer_buffer(a[3].number), (size_t)a[1].number, a[2].number))

/* readv SLOT BYTES PARTS [MISALIGN]; preadv SLOT BYTES PARTS OFFSET [MISALIGN]; preadv2 … OFFSET FLAGS
 * [MISALIGN] */
#define RUN_PARTS(name, misalign, call)                                                                      \
    RUN(name)                                                                                                \
    {                                                                                                        \
        struct iovec parts[MAX_PARTS];                                                                       \
        int n = parts_of(parts, a[1], a[2], a[misalign]);                                                    \
        TIMED(e, call);                                                                                      \
    }
RUN_PARTS(readv, 3, readv(fd_in(s, a[0]), parts, n))
RUN_PARTS(writev, 3, writev(fd_in(s, a[0]), parts, n))
RUN_PARTS(preadv, 4, preadv(fd_in(s, a[0]), parts, n, a[3].number))
RUN_PARTS(pwritev, 4, pwritev(fd_in(s, a[0]), parts, n, a[3].number))
RUN_PARTS(preadv64, 4, preadv64(fd_in(s, a[0]), parts, n, a[3].number))
RUN_PARTS(pwritev64, 4, pwritev64(fd_in(s, a[0]), parts, n, a[3].number))
RUN_PARTS(preadv2, 5, preadv2(fd_in(s, a[0]), parts, n, a[3].number, (int)a[4].number))
RUN_PARTS(pwritev2, 5, pwritev2(fd_in(s, a[0]), parts, n, a[3].number, (int)a[4].number))
RUN_PARTS(preadv64v2, 5, preadv64v2(fd_in(s, a[0]), parts, n, a[3].number, (int)a[4].number))
RUN_PARTS(pwritev64v2, 5, pwritev64v2(fd_in(s, a[0]), parts, n, a[3].number, (int)a[4].number))

/* lseek SLOT OFFSET WHENCE: sets the position of the descriptor in SLOT */
RUN_CALL(lseek, lseek(fd_in(s, a[0]), a[1].number, (int)a[2].number))
RUN_CALL(lseek64, lseek64(fd_in(s, a[0]), a[1].number, (int)a[2].number))

/* stat PATH; fstat SLOT; fstatat FOLDER-SLOT|-1 PATH FLAGS; extra: the mode that the call returned */
#define RUN_STAT(name, type, call, mode)                                                                     \
    RUN(name)                                                                                                \
    {                                                                                                        \
        (void)s;                                                                                             \
        type found = {0};                                                                                    \
        TIMED(e, call);                                                                                      \
        e->extra[0] = e->result ? 0 : found.mode;                                                            \
    }
RUN_STAT(stat, struct stat, stat(a[0].text, &found), st_mode)
RUN_STAT(stat64, struct stat64, stat64(a[0].text, &found), st_mode)
RUN_STAT(lstat, struct stat, lstat(a[0].text, &found), st_mode)
RUN_STAT(lstat64, struct stat64, lstat64(a[0].text, &found), st_mode)
RUN_STAT(fstat, struct stat, fstat(fd_in(s, a[0]), &found), st_mode)
RUN_STAT(fstat64, struct stat64, fstat64(fd_in(s, a[0]), &found), st_mode)
RUN_STAT(fstatat, struct stat, fstatat(fd_in(s, a[0]), a[1].text, &found, (int)a[2].number), st_mode)
RUN_STAT(statx, struct statx, statx(fd_in(s, a[0]), a[1].text, (int)a[2].number, STATX_BASIC_STATS, &found),
         stx_mode)
/* statx_fd SLOT: asks about the descriptor itself, with an empty path */
RUN_STAT(statx_fd, struct statx, statx(fd_in(s, a[0]), "", AT_EMPTY_PATH, STATX_BASIC_STATS, &found),
         stx_mode)

/* fsync SLOT … truncate PATH BYTES; ftruncate SLOT BYTES; fallocate SLOT FLAGS OFFSET BYTES: make the call of
 * this name */
RUN_CALL(fsync, fsync(fd_in(s, a[0])))
RUN_CALL(fdatasync, fdatasync(fd_in(s, a[0])))
RUN_CALL(truncate, truncate(a[0].text, a[1].number))
RUN_CALL(truncate64, truncate64(a[0].text, a[1].number))
RUN_CALL(ftruncate, ftruncate(fd_in(s, a[0]), a[1].number))
RUN_CALL(ftruncate64, ftruncate64(fd_in(s, a[0]), a[1].number))
RUN_CALL(posix_fallocate, posix_fallocate(fd_in(s, a[0]), a[1].number, a[2].number))
RUN_CALL(fallocate, fallocate(fd_in(s, a[0]), (int)a[1].number, a[2].number, a[3].number))

/* rename FROM TO; renameat FOLDER-SLOT|-1 FROM FOLDER-SLOT|-1 TO; renameat2 … FLAGS: make the call of this
 * name */
RUN_CALL(rename, rename(a[0].text, a[1].text))
RUN_CALL(renameat, renameat(fd_in(s, a[0]), a[1].text, fd_in(s, a[2]), a[3].text))
RUN_CALL(renameat2, renameat2(fd_in(s, a[0]), a[1].text, fd_in(s, a[2]), a[3].text, (unsigned)a[4].number))

/* unlink PATH; unlinkat FOLDER-SLOT|-1 PATH FLAGS; link FROM TO; symlink TARGET PATH; mkdir PATH MODE …: make
 * the call of this name */
RUN_CALL(unlink, unlink(a[0].text))
RUN_CALL(unlinkat, unlinkat(fd_in(s, a[0]), a[1].text, (int)a[2].number))
RUN_CALL(remove, remove(a[0].text))
RUN_CALL(link, link(a[0].text, a[1].text))
RUN_CALL(linkat, linkat(fd_in(s, a[0]), a[1].text, fd_in(s, a[2]), a[3].text, 0))
RUN_CALL(symlink, symlink(a[0].text, a[1].text))
RUN_CALL(mkdir, mkdir(a[0].text, (mode_t)a[1].number))
RUN_CALL(mkdirat, mkdirat(fd_in(s, a[0]), a[1].text, (mode_t)a[2].number))
RUN_CALL(rmdir, rmdir(a[0].text))

/* mmap SLOT BYTES OFFSET: maps a part of the file for shared reading, and unmaps it; result 0 or -1 */
RUN(mmap)
{
    void *map = NULL;
    TIMED(e, (map = mmap(NULL, (size_t)a[1].number, PROT_READ, MAP_SHARED, fd_in(s, a[0]), a[2].number)) ==
                 MAP_FAILED);
    if (e->result)
        e->result = -1;
    else
        munmap(map, (size_t)a[1].number);
}

/* sendfile TO-SLOT FROM-SLOT OFFSET|-1 BYTES: copies between two files; extra: the source's descriptor, and
 * its position before and after the call */
static void note_source(struct entry *e, int fd, off64_t before)
{
    e->extra[0] = fd;
    e->extra[1] = before;
}
static off64_t quiet_position(int fd) { return system_call(SYS_lseek, fd, 0L, SEEK_CUR); }
/* Returns true if both descriptors are of one file: the result of a copy within one file is not
 * documented. */
static int same_file(int from, int to)
{
    struct stat one, other;
    return system_call(SYS_fstat, from, &one) == 0 && system_call(SYS_fstat, to, &other) == 0 &&
           one.st_ino == other.st_ino;
}
RUN(sendfile)
{
    int from = fd_in(s, a[1]);
    e->result = -1;
    if (same_file(from, fd_in(s, a[0])))
        return;
    off_t offset = a[2].number;
    note_source(e, from, quiet_position(from));
    TIMED(e, sendfile(fd_in(s, a[0]), from, a[2].number < 0 ? NULL : &offset, (size_t)a[3].number));
}
/* copy_file_range TO-SLOT FROM-SLOT TO-OFFSET|-1 FROM-OFFSET|-1 BYTES: copies between two files; -1: at the
 * descriptor's position */
RUN(copy_file_range)
{
    int from = fd_in(s, a[1]);
    e->result = -1;
    if (same_file(from, fd_in(s, a[0])))
        return;
    off64_t to_offset = a[2].number, from_offset = a[3].number;
    note_source(e, from, quiet_position(from));
    TIMED(e, copy_file_range(from, a[3].number < 0 ? NULL : &from_offset, fd_in(s, a[0]),
                             a[2].number < 0 ? NULL : &to_offset, (size_t)a[4].number, 0));
}

/* aio_read SLOT BYTES OFFSET [MISALIGN]: starts the read, waits for it and collects its result. begin is that
 * of aio_read; extra: times before and after aio_return. */
static void run_aio(const struct state *s, const struct arg *a, struct entry *e, int (*start)(struct aiocb *))
{
    struct aiocb block = {
        .aio_fildes = fd_in(s, a[0]), .aio_nbytes = (size_t)a[1].number, .aio_offset = a[2].number};
    block.aio_buf = transfer_buffer(a[3].number);
    const struct aiocb *list[] = {&block};
    TIMED(e, start(&block));
    if (e->result)
        return;
    while (aio_suspend(list, 1, NULL) || aio_error(&block) == EINPROGRESS)
        ;
    e->extra[0] = e->end;
    e->extra[1] = journal_now();
    e->result = aio_return(&block);
    e->end = journal_now();
}
RUN(aio_read) { run_aio(s, a, e, aio_read); }
RUN(aio_write) { run_aio(s, a, e, aio_write); }
static int list_read(struct aiocb *block)
{
    struct aiocb *list[] = {block};
    block->aio_lio_opcode = LIO_READ;
    return lio_listio(LIO_WAIT, list, 1, NULL);
}
static int list_write(struct aiocb *block)
{
    struct aiocb *list[] = {block};
    block->aio_lio_opcode = LIO_WRITE;
    return lio_listio(LIO_NOWAIT, list, 1, NULL);
}
RUN(lio_read) { run_aio(s, a, e, list_read); }
RUN(lio_write) { run_aio(s, a, e, list_write); }

#define ROW(name, on, slot)                                                                                  \
    {                                                                                                        \
#name, run_##name, on, slot, STAYS                                                                   \
    }
const struct operation posix_operations[] = {
    ROW(open, ON_NOTHING, 0),
    ROW(open64, ON_NOTHING, 0),
    ROW(creat, ON_NOTHING, 0),
    ROW(creat64, ON_NOTHING, 0),
    ROW(openat, ON_NOTHING, 0),
    ROW(openat64, ON_NOTHING, 0),
    ROW(openat2, ON_NOTHING, 0),
    ROW(mkstemp, ON_NOTHING, 0),
    ROW(mkostemps, ON_NOTHING, 0),
    ROW(dup, ON_FD, 1),
    ROW(dup2, ON_FD, 1),
    ROW(dup3, ON_FD, 1),
    ROW(fcntl_dupfd, ON_FD, 1),
    ROW(fcntl_dupfd_cloexec, ON_FD, 1),
    ROW(spawn, ON_NOTHING, 0),
    ROW(spawn_by_fork, ON_NOTHING, 0),
    ROW(inherits, ON_FD, 0),
    ROW(stdout_to, ON_FD, 0),
    ROW(stdout_back, ON_NOTHING, 0),
    ROW(close, ON_FD, 0),
    ROW(close_range, ON_FD, 0),
    ROW(read, ON_FD, 0),
    ROW(write, ON_FD, 0),
    ROW(pread, ON_FD, 0),
    ROW(pwrite, ON_FD, 0),
    ROW(pread64, ON_FD, 0),
    ROW(pwrite64, ON_FD, 0),
    ROW(readv, ON_FD, 0),
    ROW(writev, ON_FD, 0),
    ROW(preadv, ON_FD, 0),
    ROW(pwritev, ON_FD, 0),
    ROW(preadv64, ON_FD, 0),
    ROW(pwritev64, ON_FD, 0),
    ROW(preadv2, ON_FD, 0),
    ROW(pwritev2, ON_FD, 0),
    ROW(preadv64v2, ON_FD, 0),
    ROW(pwritev64v2, ON_FD, 0),
    ROW(lseek, ON_FD, 0),
    ROW(lseek64, ON_FD, 0),
    ROW(stat, ON_NOTHING, 0),
    ROW(stat64, ON_NOTHING, 0),
    ROW(lstat, ON_NOTHING, 0),
    ROW(lstat64, ON_NOTHING, 0),
    ROW(fstat, ON_FD, 0),
    ROW(fstat64, ON_FD, 0),
    ROW(fstatat, ON_NOTHING, 0),
    ROW(statx, ON_NOTHING, 0),
    ROW(statx_fd, ON_FD, 0),
    ROW(fsync, ON_FD, 0),
    ROW(fdatasync, ON_FD, 0),
    ROW(truncate, ON_NOTHING, 0),
    ROW(truncate64, ON_NOTHING, 0),
    ROW(ftruncate, ON_FD, 0),
    ROW(ftruncate64, ON_FD, 0),
    ROW(posix_fallocate, ON_FD, 0),
    ROW(fallocate, ON_FD, 0),
    ROW(rename, ON_NOTHING, 0),
    ROW(renameat, ON_NOTHING, 0),
    ROW(renameat2, ON_NOTHING, 0),
    ROW(unlink, ON_NOTHING, 0),
    ROW(unlinkat, ON_NOTHING, 0),
    ROW(remove, ON_NOTHING, 0),
    ROW(link, ON_NOTHING, 0),
    ROW(linkat, ON_NOTHING, 0),
    ROW(symlink, ON_NOTHING, 0),
    ROW(mkdir, ON_NOTHING, 0),
    ROW(mkdirat, ON_NOTHING, 0),
    ROW(rmdir, ON_NOTHING, 0),
    ROW(mmap, ON_FD, 0),
    ROW(sendfile, ON_FD, 0),
    ROW(copy_file_range, ON_FD, 0),
    ROW(aio_read, ON_FD, 0),
    ROW(aio_write, ON_FD, 0),
    ROW(lio_read, ON_FD, 0),
    ROW(lio_write, ON_FD, 0),
    {0},
};
