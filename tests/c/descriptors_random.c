/* Random programs that give numbers of descriptors back and get them again, by calls that the profiler wraps
 * and by system calls of their own. Arguments: first seed, number of programs. Prints the bytes written to
 * and read from each file. A number that is both closed and given out unseen cannot be noticed, and is closed
 * at once. */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { NUMBERS = 40, FILES = 6, CALLS = 80, ROOM = 8192, PIPE = 100 };

/* For each number: the file's index, PIPE for what is no file, -1 if it is closed. `stale`: it was closed
 * unseen. */
static int holds[NUMBERS];
static bool stale[NUMBERS];
static int64_t moved[FILES][2];
static uint64_t state;
static char data[ROOM];

static unsigned draw(unsigned below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

static long raw(long number, long a, long b, long c, long d)
{
    register long fourth __asm__("r10") = d;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
}

static void given(int fd, int what)
{
    if (fd < 0)
        return;
    if (fd >= NUMBERS) {
        close(fd);
        return;
    }
    holds[fd] = what;
    stale[fd] = false;
}

static void give_up(int fd)
{
    holds[fd] = -1;
    switch (draw(6)) {
    case 0:
        close(fd);
        return;
    case 1:
        syscall(SYS_close, fd);
        return;
    case 2:
        close_range((unsigned)fd, (unsigned)fd, 0);
        return;
    case 3:
        syscall(SYS_close_range, fd, fd, 0);
        return;
    default:
        raw(SYS_close, fd, 0, 0, 0);
        stale[fd] = true;
    }
}

static void open_file(const char *folder)
{
    char path[64];
    int file = (int)draw(FILES), fd;
    snprintf(path, sizeof path, "%s/%d", folder, file);
    switch (draw(5)) {
    case 0:
        fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT, 0600);
        break;
    case 1:
        fd = (int)syscall(SYS_open, path, O_RDWR | O_CREAT, 0600);
        break;
    case 2:
        fd = (int)raw(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CREAT, 0600);
        if (fd >= 0 && fd < NUMBERS && stale[fd]) {
            close(fd);
            stale[fd] = false;
            return;
        }
        break;
    default:
        fd = open(path, O_RDWR | O_CREAT, 0600);
    }
    given(fd, file);
}

static void open_other(void)
{
    int ends[2] = {-1, -1};
    switch (draw(5)) {
    case 0:
        pipe(ends);
        break;
    case 1:
        pipe2(ends, O_NONBLOCK);
        break;
    case 2:
        syscall(SYS_pipe2, ends, 0);
        break;
    case 3:
        socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
        break;
    default:
        ends[0] = eventfd(0, 0);
    }
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0)
            fcntl(ends[i], F_SETFL, O_RDWR | O_NONBLOCK);
        given(ends[i], PIPE);
    }
}

static void copy(int fd)
{
    int what = holds[fd], at;
    switch (draw(4)) {
    case 0:
        given(dup(fd), what);
        return;
    case 1:
        given((int)syscall(SYS_dup, fd), what);
        return;
    case 2:
        given(fcntl(fd, F_DUPFD, 3), what);
        return;
    default:
        at = 3 + (int)draw(NUMBERS - 3);
        given(draw(2) ? dup2(fd, at) : (int)syscall(SYS_dup2, fd, at), what);
    }
}

static void count(int fd, bool writing, ssize_t bytes)
{
    if (bytes > 0 && holds[fd] >= 0 && holds[fd] < FILES)
        moved[holds[fd]][writing] += bytes;
}

static int pick(void)
{
    int open[NUMBERS], count = 0;
    for (int fd = 3; fd < NUMBERS; fd++)
        if (holds[fd] >= 0)
            open[count++] = fd;
    return count > 0 ? open[draw((unsigned)count)] : -1;
}

static void transfer(int fd)
{
    size_t bytes = 1 + draw(ROOM);
    struct iovec part = {data, bytes};
    int other = pick();
    ssize_t done;
    switch (draw(9)) {
    case 0:
        count(fd, true, write(fd, data, bytes));
        return;
    case 1:
        count(fd, true, syscall(SYS_write, fd, data, bytes));
        return;
    case 2:
        count(fd, true, pwrite(fd, data, bytes, draw(100000)));
        return;
    case 3:
        count(fd, true, writev(fd, &part, 1));
        return;
    case 4:
        count(fd, false, read(fd, data, bytes));
        return;
    case 5:
        count(fd, false, syscall(SYS_pread64, fd, data, bytes, 0L));
        return;
    case 6:
        lseek(fd, 0, SEEK_SET);
        count(fd, false, syscall(SYS_readv, fd, &part, 1));
        return;
    default:
        if (holds[fd] >= FILES || holds[other] >= FILES || holds[fd] == holds[other])
            return;
        lseek(fd, 0, SEEK_SET);
        done = draw(2) ? sendfile(other, fd, NULL, bytes)
                       : syscall(SYS_copy_file_range, fd, NULL, other, NULL, bytes, 0L);
        count(fd, false, done);
        count(other, true, done);
    }
}

static void run(unsigned seed)
{
    char folder[32];
    state = seed * 2654435761u + 1;
    memset(moved, 0, sizeof moved);
    snprintf(folder, sizeof folder, "program%u", seed);
    mkdir(folder, 0700);
    for (int i = 0; i < CALLS; i++) {
        int fd = pick();
        unsigned what = draw(10);
        if (fd < 0 || what < 2)
            open_file(folder);
        else if (what == 2)
            open_other();
        else if (what == 3)
            copy(fd);
        else if (what < 6)
            give_up(fd);
        else
            transfer(fd);
    }
    for (int fd = 3; fd < NUMBERS; fd++) {
        close(fd);
        holds[fd] = -1;
        stale[fd] = false;
    }
    for (int file = 0; file < FILES; file++)
        if (moved[file][0] + moved[file][1] > 0)
            printf("%s/%d %lld %lld\n", folder, file, (long long)moved[file][1], (long long)moved[file][0]);
}

int main(int argc, char **argv)
{
    unsigned first = (unsigned)atoi(argv[1]), programs = (unsigned)atoi(argv[2]);
    for (int fd = 0; fd < NUMBERS; fd++)
        holds[fd] = -1;
    signal(SIGPIPE, SIG_IGN);
    closefrom(3);
    for (unsigned seed = first; seed < first + programs; seed++)
        run(seed);
    return 0;
}
