/* network_copies PORT SEED THREADS VISITS GIVEN: each thread makes connections to a port of this host, and
 * copies, replaces, inherits and closes their descriptors at random, while other threads close copies of
 * them. It receives the GIVEN bytes that the other end sends. The other end counts what it gets. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MUST(condition)                                                                                      \
    ((condition) ? (void)0 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), exit(1)))

enum { MOST_COPIES = 64, STEPS = 40, COPIES_BESIDE = 100, FIRST_HIGH = 250, HIGH_OF_THREAD = 50 };

static int port, seed, threads, visits, given;

struct visitor {
    int number;
    unsigned draw;
    /* Descriptors of the connection, of which the first stays open to the end. */
    int fds[MOST_COPIES], count;
};

static unsigned any(struct visitor *visitor, unsigned most)
{
    visitor->draw = visitor->draw * 1664525 + 1013904223;
    return (visitor->draw >> 8) % most;
}

static void *copy_and_close(void *fd)
{
    for (int i = 0; i < COPIES_BESIDE; i++)
        MUST(close(dup(*(int *)fd)) == 0);
    return NULL;
}

static void add(struct visitor *visitor, int copy)
{
    MUST(copy >= 0);
    for (int i = 0; i < visitor->count; i++)
        if (visitor->fds[i] == copy)
            return;
    visitor->fds[visitor->count++] = copy;
}

static void inherit(int fd)
{
    pid_t child = fork();
    if (child == 0)
        _exit(write(fd, "from the child", 14) != 14);
    int status;
    MUST(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

static void send_some(struct visitor *visitor, int fd)
{
    static const char bytes[3000];
    unsigned most = 1 + any(visitor, sizeof bytes);
    MUST(write(fd, bytes, most) == (ssize_t)most);
}

static void act(struct visitor *visitor, int step)
{
    unsigned place = any(visitor, (unsigned)visitor->count);
    int fd = visitor->fds[place];
    switch (any(visitor, 9)) {
    case 0:
        add(visitor, dup(fd));
        return;
    case 1:
        add(visitor, fcntl(fd, F_DUPFD, FIRST_HIGH));
        return;
    case 2:
        add(visitor, dup2(fd, 2 * FIRST_HIGH + HIGH_OF_THREAD * visitor->number + step));
        return;
    case 3:
        MUST(dup2(visitor->fds[any(visitor, (unsigned)visitor->count)], fd) == fd);
        return;
    case 4:
    case 5:
        if (place == 0)
            return;
        if (step % 2)
            MUST(dup2(0, fd) == fd);
        MUST(close(fd) == 0);
        visitor->fds[place] = visitor->fds[--visitor->count];
        return;
    case 6:
        if (step % 8 == 0)
            inherit(fd);
        return;
    default:
        send_some(visitor, fd);
    }
}

static void receive_all(int fd)
{
    char memory[8192];
    for (ssize_t left = given, got; left > 0; left -= got)
        MUST((got = read(fd, memory, sizeof memory)) > 0);
}

static void visit(struct visitor *visitor)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    address.sin_port = htons((uint16_t)port);
    pthread_t beside;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    MUST(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    visitor->fds[0] = fd;
    visitor->count = 1;
    MUST(pthread_create(&beside, NULL, copy_and_close, &fd) == 0);
    for (int step = 0; step < STEPS; step++)
        act(visitor, step);
    MUST(pthread_join(beside, NULL) == 0);
    receive_all(visitor->fds[any(visitor, (unsigned)visitor->count)]);
    for (int turn = (int)any(visitor, STEPS), i = 0; i < visitor->count; i++)
        MUST(close(visitor->fds[(turn + i) % visitor->count]) == 0);
}

static void *work(void *number)
{
    struct visitor visitor = {.number = (int)(intptr_t)number};
    visitor.draw = (unsigned)(100 * seed + visitor.number);
    for (int i = 0; i < visits; i++)
        visit(&visitor);
    return NULL;
}

int main(int count, char **words)
{
    pthread_t thread[16];
    MUST(count == 6);
    port = atoi(words[1]), seed = atoi(words[2]), threads = atoi(words[3]), visits = atoi(words[4]);
    given = atoi(words[5]);
    MUST(threads <= (int)(sizeof thread / sizeof *thread));
    for (int i = 0; i < threads; i++)
        MUST(pthread_create(&thread[i], NULL, work, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < threads; i++)
        MUST(pthread_join(thread[i], NULL) == 0);
    return 0;
}
