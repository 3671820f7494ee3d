/* Tests that sampling does not change transfers: each moves all its bytes, however long it waits, unless a
 * signal of the program ends it. Prints a line for each difference; exit code 1 if there is one. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MANY = 1000000,
    HALF = MANY / 2,
    FULL = 65536,
    FEW = 100,
    WAIT_US = 10000,
    RANDOM = 8 << 20,
    ROOM = 64 << 20,
    COPIED = 16 << 20
};

static char bytes[MANY];
static int failures, source;

static void check(const char *name, long got, long expected)
{
    if (got == expected)
        return;
    printf("%s: %ld instead of %ld (%s)\n", name, got, expected, strerror(errno));
    failures++;
}

static long write_all(int fd) { return write(fd, bytes, MANY); }

static struct iovec halves[2] = {{bytes, HALF}, {bytes + HALF, HALF}};

static long writev_all(int fd) { return writev(fd, halves, 2); }
static long pwritev2_all(int fd) { return pwritev2(fd, halves, 2, -1, 0); }
static long send_all(int fd) { return send(fd, bytes, MANY, 0); }
static long sendto_all(int fd) { return sendto(fd, bytes, MANY, 0, NULL, 0); }

static long sendmsg_all(int fd)
{
    struct msghdr message = {.msg_iov = halves, .msg_iovlen = 2};
    return sendmsg(fd, &message, 0);
}

static long sendmmsg_all(int fd)
{
    struct mmsghdr messages[2] = {{.msg_hdr = {.msg_iov = halves, .msg_iovlen = 1}},
                                  {.msg_hdr = {.msg_iov = halves + 1, .msg_iovlen = 1}}};
    int sent = sendmmsg(fd, messages, 2, 0);
    return sent == 2 ? (long)messages[0].msg_len + messages[1].msg_len : sent;
}

static long sendfile_all(int fd)
{
    off_t begin = 0;
    return sendfile(fd, source, &begin, MANY);
}

/* Returns the number of bytes that a reader got until the other end was closed. */
static long drain(int fd)
{
    static char room[MANY];
    long sum = 0, got;
    while ((got = read(fd, room, sizeof room)) > 0)
        sum += got;
    return sum;
}

static void make_pair(int pair[2], int is_socket)
{
    if (is_socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 : pipe(pair) != 0)
        exit(2);
    int swap = pair[0];
    pair[0] = is_socket ? pair[1] : swap;
    pair[1] = is_socket ? swap : pair[1];
}

static void until_full(int fd)
{
    for (int full = 0; full < FULL; usleep(1000))
        ioctl(fd, FIONREAD, &full);
}

/* Writes to a reader that begins only after the writer has waited for several periods of the timer. */
static void slow_reader(const char *name, long (*move)(int), int is_socket)
{
    int pair[2];
    make_pair(pair, is_socket);
    pid_t reader = fork();
    if (reader == 0) {
        close(pair[1]);
        until_full(pair[0]);
        usleep(WAIT_US);
        _exit(drain(pair[0]) != MANY);
    }
    close(pair[0]);
    check(name, move(pair[1]), MANY);
    close(pair[1]);
    int status = 1;
    waitpid(reader, &status, 0);
    check("its reader", status, 0);
}

static void on_signal(int number) { (void)number; }

/* Ends a write by a signal of the program when the pipe is full; nothing is read before that. */
static void interrupted(int flags)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};
    int pair[2], ended[2];
    char none;
    sigaction(SIGUSR1, &action, NULL);
    make_pair(pair, 0);
    make_pair(ended, 0);
    pid_t reader = fork();
    if (reader == 0) {
        close(pair[1]);
        close(ended[1]);
        until_full(pair[0]);
        usleep(WAIT_US);
        kill(getppid(), SIGUSR1);
        read(ended[0], &none, 1);
        _exit(drain(pair[0]) != FULL);
    }
    close(pair[0]);
    close(ended[0]);
    check("write with a signal", write(pair[1], bytes, MANY), FULL);
    close(pair[1]);
    close(ended[1]);
    int status = 1;
    waitpid(reader, &status, 0);
    check("its reader", status, 0);
}

/* Copies bytes between pipes; the first call waits until there are bytes to copy. */
static void between_pipes(void)
{
    int from[2], to[2];
    make_pair(from, 0);
    make_pair(to, 0);
    pid_t writer = fork();
    if (writer == 0) {
        usleep(WAIT_US);
        struct iovec few = {bytes, FEW};
        _exit(vmsplice(from[1], &few, 1, 0) != FEW);
    }
    close(from[1]);
    check("tee", tee(from[0], to[1], FULL, 0), FEW);
    int status = 1;
    waitpid(writer, &status, 0);
    check("its writer", status, 0);
    close(from[0]);
    close(to[0]);
    close(to[1]);
}

static int unnamed(void)
{
    char path[] = "transfers.XXXXXX";
    int fd = mkstemp(path);
    unlink(path);
    return fd;
}

/* Makes the same transfers with descriptors that are known to be regular files. */
static void between_files(void)
{
    int from = unnamed(), to = unnamed();
    check("ftruncate", ftruncate(from, COPIED), 0);
    for (int i = 0; i < 3; i++) {
        off_t begin = 0;
        check("sendfile to a file", sendfile(to, from, &begin, COPIED), COPIED);
        check("lseek", lseek(to, 0, SEEK_SET), 0);
    }
    close(from);
    close(to);
}

static void nothing_waits(void)
{
    int pair[2];
    make_pair(pair, 0);
    fcntl(pair[1], F_SETFL, O_NONBLOCK);
    check("write that must not wait", write(pair[1], bytes, MANY), FULL);
    check("write to a full pipe", write(pair[1], bytes, 1), -1);
    check("its errno", errno, EAGAIN);
    close(pair[0]);
    signal(SIGPIPE, SIG_IGN);
    check("write to a closed pipe", write(pair[1], bytes, 1), -1);
    check("its errno", errno, EPIPE);
    close(pair[1]);
}

static long recv_all(int fd) { return recv(fd, bytes, MANY, MSG_WAITALL); }

static long recvmsg_all(int fd)
{
    struct msghdr message = {.msg_iov = halves, .msg_iovlen = 2};
    return recvmsg(fd, &message, MSG_WAITALL);
}

static void slow_writer(const char *name, long (*move)(int))
{
    int pair[2];
    make_pair(pair, 1);
    pid_t writer = fork();
    if (writer == 0) {
        for (int i = 0; i < 2; i++, usleep(WAIT_US))
            if (write(pair[1], bytes, HALF) != HALF)
                _exit(1);
        _exit(0);
    }
    close(pair[1]);
    check(name, move(pair[0]), MANY);
    close(pair[0]);
    waitpid(writer, NULL, 0);
}

/* Writes until the thread is cancelled. Since glibc 2.41 a write that has moved bytes returns their number,
 * and the next one ends the thread. */
static void *write_until_cancelled(void *pair)
{
    while (write(((int *)pair)[1], bytes, MANY) > 0)
        continue;
    return NULL;
}

static void cancelled(void)
{
    int pair[2];
    pthread_t thread;
    void *result;
    make_pair(pair, 0);
    pthread_create(&thread, NULL, write_until_cancelled, pair);
    until_full(pair[0]);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    check("thread cancelled in write", result == PTHREAD_CANCELED, 1);
    close(pair[0]);
    close(pair[1]);
}

/* Makes calls for which the kernel generates the bytes: /dev/zero, getrandom, fallocate. */
static void made(void)
{
    char *room = malloc(RANDOM);
    int zero = open("/dev/zero", O_RDONLY), memory = memfd_create("room", 0);
    check("getrandom", getrandom(room, RANDOM, 0), RANDOM);
    for (int i = 0; i < 20; i++)
        check("read of /dev/zero", read(zero, room, RANDOM), RANDOM);
    check("fallocate", fallocate(memory, 0, 0, ROOM), 0);
    check("posix_fallocate", posix_fallocate(memory, ROOM, ROOM), 0);
    close(memory);
    close(zero);
    free(room);
}

int main(void)
{
    source = unnamed();
    check("write to a file", write(source, bytes, MANY), MANY);
    slow_reader("write", write_all, 0);
    slow_reader("write to a socket", write_all, 1);
    slow_reader("writev", writev_all, 0);
    slow_reader("pwritev2", pwritev2_all, 0);
    slow_reader("sendfile to a socket", sendfile_all, 1);
    slow_reader("send", send_all, 1);
    slow_reader("sendto", sendto_all, 1);
    slow_reader("sendmsg", sendmsg_all, 1);
    slow_reader("sendmmsg", sendmmsg_all, 1);
    slow_writer("recv", recv_all);
    slow_writer("recvmsg", recvmsg_all);
    interrupted(0);
    interrupted(SA_RESTART);
    between_pipes();
    between_files();
    nothing_waits();
    cancelled();
    made();
    return failures > 0;
}
