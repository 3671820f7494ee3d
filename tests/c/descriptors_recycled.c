/* Closes a descriptor of a file in a way that may be unseen, receives its number anew from a call that gives
 * descriptors, and moves bytes through it. Arguments: how to close, what to open. Prints the number of data
 * bytes that belong to the files `config` and `other`. */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <pty.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
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

static void connect_to_itself(int fd)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "self"};
    bind(fd, (void *)&address, sizeof address);
    connect(fd, (void *)&address, sizeof address);
    fcntl(fd, F_SETFL, O_NONBLOCK);
}

/* Returns the end of a terminal whose other end is the standard descriptors of a child. */
static int forked(int *child)
{
    int master;
    *child = forkpty(&master, NULL, NULL, NULL);
    if (*child == 0)
        _exit(0);
    fcntl(master, F_SETFL, O_NONBLOCK);
    return master;
}

/* Returns -1 where the file system has no handles, or the process may not use them. */
static int by_handle(const char *path)
{
    struct {
        struct file_handle head;
        unsigned char room[MAX_HANDLE_SZ];
    } handle = {.head.handle_bytes = MAX_HANDLE_SZ};
    int mount;
    raw(SYS_close, raw(SYS_open, (long)path, O_CREAT | O_RDWR, 0600, 0), 0, 0, 0);
    if (name_to_handle_at(AT_FDCWD, path, &handle.head, &mount, 0) != 0)
        return -1;
    int folder = (int)raw(SYS_open, (long)".", O_RDONLY, 0, 0);
    int fd = open_by_handle_at(folder, &handle.head, O_RDWR);
    raw(SYS_close, folder, 0, 0, 0);
    return fd;
}

/* Has the C library put /dev/null behind the standard descriptors, of which one is that of a file. */
static int replaced_standard(void)
{
    static char data[SMALL];
    int fd = open("config", O_CREAT | O_RDWR, 0600);
    write(fd, data, SMALL);
    dup2(fd, STDOUT_FILENO);
    daemon(1, 0);
    write_all(STDOUT_FILENO);
    int master, slave;
    openpty(&master, &slave, NULL, NULL, NULL);
    dup2(fd, STDOUT_FILENO);
    login_tty(slave);
    write(STDOUT_FILENO, data, SMALL);
    return 0;
}

int main(int argc, char **argv)
{
    const char *how = argv[1], *what = argv[2];
    sigset_t signals;
    if (strcmp(what, "daemon") == 0)
        return replaced_standard();
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
    else if (strcmp(what, "epoll_create") == 0)
        others = epoll_create(1);
    else if (strcmp(what, "inotify") == 0)
        others = inotify_init();
    else if (strcmp(what, "inotify1") == 0)
        others = inotify_init1(IN_NONBLOCK);
    else if (strcmp(what, "fanotify") == 0)
        others = fanotify_init(FAN_NONBLOCK, O_RDONLY);
    else if (strcmp(what, "signalfd") == 0)
        sigemptyset(&signals), others = signalfd(-1, &signals, SFD_NONBLOCK);
    else if (strcmp(what, "socket") == 0)
        others = socket(AF_UNIX, SOCK_DGRAM, 0), connect_to_itself(others);
    else if (strcmp(what, "openpt") == 0)
        others = posix_openpt(O_RDWR), fcntl(others, F_SETFL, O_NONBLOCK);
    else if (strcmp(what, "getpt") == 0)
        others = getpt(), fcntl(others, F_SETFL, O_NONBLOCK);
    else if (strcmp(what, "forkpty") == 0)
        others = forked(&spare);
    else if (strcmp(what, "opendir") == 0)
        others = dirfd(opendir("."));
    else if (strcmp(what, "shm") == 0)
        others = shm_open("/iolens-descriptors", O_CREAT | O_RDWR, 0600), shm_unlink("/iolens-descriptors");
    else if (strcmp(what, "handle") == 0)
        others = by_handle("other");
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
    bool file = strcmp(what, "rights") == 0 || (strcmp(what, "handle") == 0 && others >= 0) ||
                (strcmp(what, "open") == 0 || strcmp(what, "open_number") == 0) || strcmp(what, "fopen") == 0;
    printf("%d %d %d\n", ends[0] >= 0 ? ends[0] : others, SMALL, file ? CHUNK * CHUNKS : 0);
    return 0;
}
