/* Moves known bytes over TCP connections that end in different ways, each to a port of its own, and prints
 * the values that the log must have: "CONNECTION port established open_at_end received sent". */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define MUST(condition)                                                                                      \
    ((condition) ? (void)0 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), exit(1)))

enum { SENT = 300000, RECEIVED = 1234567 };
enum ending {
    WE_CLOSE_FIRST,
    THEY_CLOSE_FIRST,
    WE_SHUT_DOWN_FIRST,
    COPY_IN_A_CHILD,
    CLOSED_AS_STREAM,
    REPLACED,
    USED_BY_COPY,
    OPEN_AT_END,
    ENDINGS
};

struct server {
    int listener;
    enum ending ending;
    pthread_t thread;
    pthread_barrier_t answered;
};

static void move_all(int fd, size_t bytes, int sends)
{
    static __thread char memory[1 << 16];
    while (bytes > 0) {
        size_t most = bytes < sizeof memory ? bytes : sizeof memory;
        ssize_t moved = sends ? send(fd, memory, most, 0) : recv(fd, memory, most, 0);
        MUST(moved > 0);
        bytes -= (size_t)moved;
    }
}

static void *serve(void *given)
{
    struct server *server = given;
    int fd = accept(server->listener, NULL, NULL);
    char more;
    MUST(fd >= 0);
    move_all(fd, SENT, 0);
    move_all(fd, RECEIVED, 1);
    if (server->ending == THEY_CLOSE_FIRST) {
        MUST(shutdown(fd, SHUT_WR) == 0);
    }
    pthread_barrier_wait(&server->answered);
    if (server->ending != OPEN_AT_END)
        MUST(recv(fd, &more, 1, 0) == 0);
    close(fd);
    return NULL;
}

static int listen_on(struct sockaddr_in *address)
{
    socklen_t length = sizeof *address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    MUST(fd >= 0 && bind(fd, (struct sockaddr *)address, length) == 0 && listen(fd, 8) == 0);
    MUST(getsockname(fd, (struct sockaddr *)address, &length) == 0);
    return fd;
}

/* Makes calls that would close the connection if the kernel did not refuse them. */
static bool refused_to_replace(int fd)
{
    struct rlimit before, low;
    MUST(getrlimit(RLIMIT_NOFILE, &before) == 0);
    low = (struct rlimit){.rlim_cur = (rlim_t)fd, .rlim_max = before.rlim_max};
    MUST(setrlimit(RLIMIT_NOFILE, &low) == 0 && dup2(0, fd) == -1 && setrlimit(RLIMIT_NOFILE, &before) == 0);
    return dup2(-1, fd) == -1 && dup2(fd, fd) == fd && dup3(0, fd, 1) == -1 && dup3(fd, fd, 0) == -1 &&
           close_range((unsigned)fd, (unsigned)fd, 64) == -1;
}

/* Ends the connection in the requested way, and waits until the other end has noticed. */
static void end(struct server *server, int fd)
{
    char more;
    if (server->ending == THEY_CLOSE_FIRST)
        MUST(recv(fd, &more, 1, 0) == 0);
    if (server->ending == WE_SHUT_DOWN_FIRST)
        MUST(shutdown(fd, SHUT_WR) == 0 && recv(fd, &more, 1, 0) == 0);
    if (server->ending == COPY_IN_A_CHILD) {
        pid_t child = fork();
        if (child == 0)
            exit(close(fd));
        MUST(child > 0 && waitpid(child, NULL, 0) == child);
    }
    if (server->ending == CLOSED_AS_STREAM)
        MUST(fclose(fdopen(fd, "r+")) == 0);
    else if (server->ending == REPLACED)
        MUST(refused_to_replace(fd) && dup2(0, fd) == fd && close(fd) == 0);
    else if (server->ending != OPEN_AT_END)
        MUST(close(fd) == 0);
}

/* Returns a third descriptor of the connection, after the first two are closed. */
static int moved_to_copy(int fd)
{
    int copy = dup(fd), last = fcntl(copy, F_DUPFD, 100);
    MUST(copy >= 0 && last >= 100 && close(fd) == 0);
    MUST(dup2(last, copy) == copy && close(copy) == 0);
    return last;
}

static void visit(enum ending ending)
{
    static struct server servers[ENDINGS];
    struct server *server = &servers[ending];
    struct sockaddr_in address;
    server->listener = listen_on(&address);
    server->ending = ending;
    MUST(pthread_barrier_init(&server->answered, NULL, 2) == 0);
    MUST(pthread_create(&server->thread, NULL, serve, server) == 0);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    MUST(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    if (ending == USED_BY_COPY)
        fd = moved_to_copy(fd);
    move_all(fd, SENT, 1);
    move_all(fd, RECEIVED, 0);
    pthread_barrier_wait(&server->answered);
    end(server, fd);
    MUST(pthread_join(server->thread, NULL) == 0);
    close(server->listener);
    printf("CONNECTION %d 1 %d %d %d\n", ntohs(address.sin_port), ending == OPEN_AT_END, RECEIVED, SENT);
}

/* Connects to a port where nobody listens. */
static void refused(void)
{
    struct sockaddr_in address;
    close(listen_on(&address));
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    MUST(connect(fd, (struct sockaddr *)&address, sizeof address) != 0);
    close(fd);
    printf("CONNECTION %d 0 0 0 0\n", ntohs(address.sin_port));
}

/* Calls connect with addresses that the kernel refuses before it reads them. */
static void bad_addresses(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    MUST(connect(fd, NULL, 0) == -1 && errno == EINVAL);
    MUST(connect(fd, NULL, (socklen_t)-1) == -1 && errno == EINVAL);
    MUST(connect(fd, NULL, sizeof(struct sockaddr_in)) == -1 && errno == EFAULT);
    close(fd);
}

static void ignore(int number) { (void)number; }

/* Lets a signal interrupt connect, as long as the queue of the other end is full. */
static void interrupted(void)
{
    struct itimerval often = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = ignore};
    struct sockaddr_in address;
    int listener = listen_on(&address), first = socket(AF_INET, SOCK_STREAM, 0),
        fd = socket(AF_INET, SOCK_STREAM, 0);
    MUST(listen(listener, 0) == 0);
    MUST(syscall(SYS_connect, first, &address, sizeof address) == 0);
    MUST(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &often, NULL) == 0);
    MUST(connect(fd, (struct sockaddr *)&address, sizeof address) == -1 && errno == EINTR);
    MUST(setitimer(ITIMER_REAL, &never, NULL) == 0);
    MUST(accept(listener, NULL, NULL) >= 0);
    struct pollfd writable = {.fd = fd, .events = POLLOUT};
    MUST(poll(&writable, 1, -1) == 1 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    MUST(send(fd, "words", 5, 0) == 5);
    close(fd);
    close(first);
    close(listener);
    printf("CONNECTION %d 1 0 0 5\n", ntohs(address.sin_port));
}

int main(void)
{
    for (enum ending ending = 0; ending < ENDINGS; ending++)
        visit(ending);
    refused();
    bad_addresses();
    interrupted();
    return 0;
}
