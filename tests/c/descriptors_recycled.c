/* Closes a descriptor of a file in a way that may be unseen, receives its number anew from a call that gives
 * descriptors, and moves bytes through it. Arguments: how to close, what to open. Prints the number of data
 * bytes that belong to the files `config` and `other`. */
#include <fcntl.h>
#include <stdbool.h>
#include <pty.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>
#include <utmp.h>

enum { SMALL = 1000, CHUNK = 4096, CHUNKS = 16 };

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

static void close_it(const char *how, int fd)
{
    if (strcmp(how, "assembly") == 0)
        raw(SYS_close, fd, 0, 0, 0);
    else if (strcmp(how, "number") == 0)
        syscall(SYS_close, fd);
    else if (strcmp(how, "range_number") == 0)
        syscall(SYS_close_range, fd, fd, 0);
    else if (strcmp(how, "range") == 0)
        close_range((unsigned)fd, (unsigned)fd, 0);
    else if (strcmp(how, "from") == 0)
        closefrom(fd);
    else
        close(fd);
}

static void pass(int socket, int fd)
{
    char data = 'x', room[CMSG_SPACE(sizeof fd)] = {0};
    struct iovec part = {&data, 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(rights), &fd, sizeof fd);
    sendmsg(socket, &message, 0);
}

static int receive(int socket)
{
    char data, room[CMSG_SPACE(sizeof(int))];
    int fd = -1;
    struct iovec part = {&data, 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    if (recvmsg(socket, &message, 0) == 1)
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    return fd;
}

/* Moves the bytes through a pair of connected descriptors, in both directions where possible. */
static void pump(int from, int to)
{
    static char data[CHUNK];
    for (int i = 0; i < CHUNKS; i++) {
        write(to, data, CHUNK);
        read(from, data, CHUNK);
    }
}

static void write_all(int fd)
{
    static char data[CHUNK];
    for (int i = 0; i < CHUNKS; i++)
        write(fd, data, CHUNK);
}

int main(int argc, char **argv)
{
    const char *how = argv[1], *what = argv[2];
    int ends[2] = {-1, -1}, sockets[2], others = 0, listener = -1, client = -1, spare = -1;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char data[SMALL] = "";
    if (strncmp(what, "accept", 6) == 0) {
        listener = socket(AF_UNIX, SOCK_STREAM, 0);
        snprintf(address.sun_path, sizeof address.sun_path, "%s", "socket");
        bind(listener, (void *)&address, sizeof address);
        listen(listener, 1);
        client = socket(AF_UNIX, SOCK_STREAM, 0);
        connect(client, (void *)&address, sizeof address);
    }
    if (strcmp(what, "rights") == 0) {
        socketpair(AF_UNIX, SOCK_STREAM, 0, sockets);
        spare = (int)raw(SYS_open, (long)"other", O_CREAT | O_RDWR, 0600, 0);
        pass(sockets[0], spare);
    }
    if (strncmp(what, "dup", 3) == 0)
        socketpair(AF_UNIX, SOCK_STREAM, 0, sockets);

    int fd = open("config", O_CREAT | O_RDWR, 0600);
    write(fd, data, SMALL);
    close_it(how, fd);

    if (strcmp(what, "pipe") == 0)
        pipe(ends);
    else if (strcmp(what, "pipe2") == 0)
        pipe2(ends, O_CLOEXEC);
    else if (strcmp(what, "pipe_number") == 0)
        syscall(SYS_pipe2, ends, 0);
    else if (strcmp(what, "socketpair") == 0)
        socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    else if (strcmp(what, "accept") == 0)
        ends[0] = accept(listener, NULL, NULL), ends[1] = client;
    else if (strcmp(what, "accept4") == 0)
        ends[0] = accept4(listener, NULL, NULL, SOCK_CLOEXEC), ends[1] = client;
    else if (strcmp(what, "memfd") == 0)
        others = memfd_create("memory", 0);
    else if (strcmp(what, "openpty") == 0)
        openpty(&others, &spare, NULL, NULL, NULL), fcntl(others, F_SETFL, O_NONBLOCK);
    else if (strcmp(what, "eventfd") == 0)
        others = eventfd(0, EFD_NONBLOCK);
    else if (strcmp(what, "epoll") == 0)
        others = epoll_create1(0);
    else if (strcmp(what, "timerfd") == 0)
        others = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    else if (strcmp(what, "popen") == 0)
        others = fileno(popen("cat >/dev/null", "w"));
    else if (strcmp(what, "rights") == 0)
        others = receive(sockets[1]);
    else if (strcmp(what, "open_number") == 0)
        others = (int)syscall(SYS_openat, AT_FDCWD, "other", O_CREAT | O_RDWR, 0600);
    else if (strcmp(what, "open") == 0)
        others = open("other", O_CREAT | O_RDWR, 0600);
    else if (strcmp(what, "dup") == 0)
        ends[0] = dup(sockets[0]), ends[1] = sockets[1];
    else if (strcmp(what, "dup_number") == 0)
        ends[0] = (int)syscall(SYS_dup, sockets[0]), ends[1] = sockets[1];
    else if (strcmp(what, "fopen") == 0)
        others = fileno(fopen("other", "w+"));
    if (ends[0] >= 0) {
        pump(ends[0], ends[1]);
        pump(ends[1], ends[0]);
    } else {
        write_all(others);
    }
    bool file = strcmp(what, "rights") == 0 ||
                strncmp(what, "open", 4) == 0 && strcmp(what, "openpty") != 0 || strcmp(what, "fopen") == 0;
    printf("%d %d %d\n", ends[0] >= 0 ? ends[0] : others, SMALL, file ? CHUNK * CHUNKS : 0);
    return 0;
}
