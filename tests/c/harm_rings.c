/* harm_rings KIND: uses of rings of io_uring that few programs have. Prints "none: " and the reason where the
 * kernel makes no ring. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define MUST(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            printf("line %d: %s\n", __LINE__, strerror(errno));                                              \
            exit(98);                                                                                        \
        }                                                                                                    \
    } while (0)

#include "harm_kinds.h"
#include "raw_ring.h"

enum { BYTES = 4096, DEPTH = 8, TURNS = 300, SECONDS = 20 };

static struct raw_ring ring;
static char data[DEPTH][BYTES];

static int made(const char *name)
{
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < DEPTH; i++) {
        memset(data[i], 'a' + i, BYTES);
        (void)!write(fd, data[i], BYTES);
    }
    memset(data, 0, sizeof data);
    return fd;
}

/* Polls for a completion, without io_uring_enter. */
static int take(void)
{
    struct io_uring_cqe done;
    for (int i = 0; i < SECONDS * 1000; i++) {
        if (raw_ring_take(&ring, &done))
            return done.res;
        usleep(i < 100 ? 0 : 1000);
    }
    printf("no completion\n");
    exit(97);
}

static int read_one(int fd, int i)
{
    raw_ring_prepare(&ring, IORING_OP_READ, fd, data[i], BYTES, i * BYTES, (uint64_t)i);
    MUST(raw_ring_enter(&ring, 1, 1) == 1);
    return take();
}

/* Waits until the ring that read from a pipe has ended, so that the pipe has no reader. */
static void await_end(int out)
{
    struct pollfd pipe = {.fd = out, .events = POLLOUT};
    for (int i = 0; i < SECONDS * 100; i++) {
        MUST(poll(&pipe, 1, 0) >= 0);
        if (pipe.revents & POLLERR) {
            printf("ended\n");
            return;
        }
        usleep(10000);
    }
    printf("goes on\n");
}

static void unmap_own(void)
{
    const struct io_uring_params *p = &ring.params;
    size_t first = p->sq_off.array + p->sq_entries * sizeof(unsigned);
    size_t second = p->cq_off.cqes + p->cq_entries * sizeof *ring.completions;
    munmap((char *)ring.head_in - p->sq_off.head, first > second ? first : second);
    munmap(ring.requests, p->sq_entries * sizeof *ring.requests);
}

/* Closes a ring in some way while it reads from a pipe: the request must end. */
static int closed_while_reading(void (*end)(int fd))
{
    int ends[2];
    MUST(pipe(ends) == 0);
    raw_ring_prepare(&ring, IORING_OP_READ, ends[0], data[0], 10, -1, 5);
    MUST(raw_ring_enter(&ring, 1, 0) == 1);
    close(ends[0]);
    unmap_own();
    end(ring.fd);
    await_end(ends[1]);
    return 0;
}

static void end_by_close(int fd) { close(fd); }
static void end_by_number(int fd) { syscall(SYS_close, fd); }
static void end_by_range(int fd) { close_range((unsigned)fd, (unsigned)fd, 0); }
static void end_by_dup(int fd) { dup2(1, fd); }
static void end_by_dup3(int fd) { dup3(1, fd, O_CLOEXEC); }
static int closed(void) { return closed_while_reading(end_by_close); }
static int closed_by_number(void) { return closed_while_reading(end_by_number); }
static int closed_by_range(void) { return closed_while_reading(end_by_range); }
static int closed_by_dup(void) { return closed_while_reading(end_by_dup); }
static int closed_by_dup3(void) { return closed_while_reading(end_by_dup3); }

static int copied(void)
{
    int fd = made("f"), first = ring.fd;
    ring.fd = dup(first);
    close(first);
    printf("%d ", read_one(fd, 1));
    printf("%c\n", data[1][0]);
    return close(ring.fd);
}

/* Lets parent and child submit to the same ring in turns. */
static int shared(void)
{
    int fd = made("f"), turn[2], back[2];
    char word;
    MUST(pipe(turn) == 0 && pipe(back) == 0);
    unsigned *tail = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child = fork();
    for (int i = 0; i < TURNS; i++) {
        if (child == 0 || i > 0)
            MUST(read(child ? back[0] : turn[0], &word, 1) == 1);
        ring.tail = *tail;
        if (read_one(fd, i % DEPTH) != BYTES || data[i % DEPTH][0] != 'a' + i % DEPTH)
            printf("wrong\n");
        *tail = ring.tail;
        MUST(write(child ? turn[1] : back[1], "x", 1) == 1);
    }
    if (child == 0)
        _exit(0);
    MUST(waitpid(child, NULL, 0) == child);
    printf("%u\n", *ring.tail_in);
    return 0;
}

/* Lets a child continue to use the ring after its parent has ended. */
static int left_to_child(void)
{
    int fd = made("f"), alive[2];
    char word;
    MUST(pipe(alive) == 0);
    printf("%d\n", read_one(fd, 2));
    fflush(stdout);
    if (fork() == 0) {
        close(alive[1]);
        MUST(read(alive[0], &word, 1) == 0);
        printf("%d ", read_one(fd, 3));
        printf("%c\n", data[3][0]);
        return 0;
    }
    return 0;
}

/* Makes requests with the largest possible numbers, which the kernel refuses. */
static int garbage(void)
{
    int fd = made("f");
    size_t bytes = (size_t)2 << 30;
    void *room =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    static const uint8_t operations[] = {
        IORING_OP_READV,    IORING_OP_WRITEV, IORING_OP_OPENAT,     IORING_OP_FILES_UPDATE, IORING_OP_OPENAT2,
        IORING_OP_RENAMEAT, IORING_OP_STATX,  IORING_OP_READ_FIXED, IORING_OP_SPLICE,       250};
    void *const places[] = {room, (void *)-4096, (void *)8, NULL};
    for (unsigned i = 0; i < sizeof operations; i++)
        for (unsigned j = 0; j < 4; j++) {
            raw_ring_prepare(&ring, operations[i], j % 2 ? -5 : fd, places[j], j ? 0x7fffffff : ~0u, 0, i);
            MUST(raw_ring_enter(&ring, 1, 1) >= 0);
            printf("%d ", take());
        }
    putchar('\n');
    return 0;
}

/* Sets the program's position far beyond the ring's room, and an index to a request that does not exist. */
static int wrong_positions(void)
{
    int fd = made("f");
    for (int i = 0; i < DEPTH; i++)
        raw_ring_prepare(&ring, IORING_OP_READ, fd, data[i], BYTES, i * BYTES, (uint64_t)i);
    ring.array[3] = 0xfffffff0;
    atomic_store_explicit(ring.tail_in, ring.tail + 0x7fff0000u, memory_order_release);
    long taken = syscall(SYS_io_uring_enter, ring.fd, 0xffffffffu, 0, 0, NULL, 0);
    printf("%ld\n", taken < DEPTH ? 0 : taken);
    return 0;
}

static volatile sig_atomic_t handled, wrong;

static void read_in_handler(int signal)
{
    struct raw_ring own;
    struct io_uring_cqe done;
    char byte;
    int fd = open("f", O_RDONLY), before = errno = 1000 + signal;
    wrong |= !raw_ring_open(&own, 2, 0);
    raw_ring_prepare(&own, IORING_OP_READ, fd, &byte, 1, BYTES, 1);
    wrong |= raw_ring_enter(&own, 1, 1) != 1 || !raw_ring_take(&own, &done) || byte != 'b' || errno != before;
    close(own.fd);
    munmap((char *)own.head_in - own.params.sq_off.head, own.params.cq_off.cqes);
    munmap(own.requests, BYTES);
    close(fd);
    handled++;
}

static int in_handler(void)
{
    const struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = read_in_handler, .sa_flags = SA_RESTART};
    int fd = made("f");
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < TURNS || handled < 50; i++) {
        raw_ring_prepare(&ring, IORING_OP_READ, fd, data[0], BYTES, 0, 1);
        MUST(raw_ring_enter(&ring, 1, 0) == 1);
        wrong |= take() != BYTES;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%d\n", wrong);
    return 0;
}

/* Changes the table of files while requests for its files are under way. */
static int changing_table(void)
{
    int ends[2], fd = made("f"), none = -1, fds[2];
    struct io_uring_files_update update = {.fds = (uintptr_t)&none};
    for (int i = 0; i < TURNS; i++) {
        MUST(pipe(ends) == 0);
        fds[0] = ends[0], fds[1] = fd;
        MUST(syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_FILES, fds, 2) == 0);
        raw_ring_prepare(&ring, IORING_OP_READ, 0, data[0], 5, -1, 1)->flags |= IOSQE_FIXED_FILE;
        raw_ring_prepare(&ring, IORING_OP_READ, 1, data[1], 7, 0, 2)->flags |= IOSQE_FIXED_FILE;
        MUST(raw_ring_enter(&ring, 2, 1) == 2 && take() == 7);
        MUST(syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_FILES_UPDATE, &update, 1) == 1);
        close(ends[0]);
        MUST(write(ends[1], "12345", 5) == 5 && take() == 5);
        close(ends[1]);
        MUST(syscall(SYS_io_uring_register, ring.fd, IORING_UNREGISTER_FILES, NULL, 0) == 0);
    }
    printf("%.5s\n", data[0]);
    return 0;
}

static int many_rings(void)
{
    struct raw_ring rings[64];
    int fd = made("f");
    long sum = 0;
    for (int turn = 0; turn < 40; turn++) {
        for (int i = 0; i < 64; i++) {
            MUST(raw_ring_open(&rings[i], 2, 0));
            ring = rings[i];
            sum += read_one(fd, i % DEPTH);
        }
        for (int i = 0; i < 64; i++) {
            ring = rings[i];
            unmap_own();
            i % 3 ? close(ring.fd) : (int)syscall(SYS_close, ring.fd);
        }
    }
    printf("%ld\n", sum);
    return 0;
}

/* Puts tens of thousands of requests with one key under way at once; main allows a minute of processor time.
 */
static int deep(void)
{
    enum { MOST = 1 << 15, ROUNDS = 12 };
    long sum = 0;
    if (!raw_ring_open(&ring, MOST, 0))
        return 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < MOST; i++)
            raw_ring_prepare(&ring, IORING_OP_NOP, -1, NULL, 0, 0, 7);
        MUST(raw_ring_enter(&ring, MOST, MOST) == MOST);
        for (int i = 0; i < MOST; i++)
            sum += take() == 0;
    }
    printf("%ld\n", sum);
    return 0;
}

/* Makes rings of other kinds; the kernel may not support each of them. */
static int kinds_of_rings(void)
{
    /* Headers of Linux 5.15 lack these. */
    enum { SQE128 = 1 << 10, CQE32 = 1 << 11, SINGLE_ISSUER = 1 << 12, DEFER_TASKRUN = 1 << 13 };
    enum { NO_MMAP = 1 << 14, REGISTERED_FD_ONLY = 1 << 15, NO_ARRAY = 1 << 16 };
    static const unsigned flags[] = {IORING_SETUP_SQPOLL,
                                     IORING_SETUP_IOPOLL,
                                     SQE128,
                                     CQE32,
                                     NO_ARRAY,
                                     IORING_SETUP_SQPOLL | NO_ARRAY,
                                     SINGLE_ISSUER | DEFER_TASKRUN,
                                     IORING_SETUP_CLAMP};
    int fd = made("f");
    for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++) {
        struct io_uring_params asked = {.flags = flags[i]};
        int other = (int)syscall(SYS_io_uring_setup, i == 7 ? 100000 : 8, &asked);
        printf("%u %s\n", flags[i], other < 0 ? strerror(errno) : "made");
        if (other >= 0 && flags[i] == IORING_SETUP_CLAMP)
            printf("%u\n", asked.sq_entries);
        if (flags[i] == IORING_SETUP_SQPOLL && other >= 0) {
            MUST(raw_ring_open(&ring, 8, IORING_SETUP_SQPOLL));
            raw_ring_prepare(&ring, IORING_OP_READ, fd, data[0], 9, 0, 1);
            atomic_store_explicit(ring.tail_in, ring.tail, memory_order_release);
            MUST(syscall(SYS_io_uring_enter, ring.fd, 1, 1, 3, NULL, 0) >= 0);
            printf("%d\n", take());
        }
        if (other >= 0)
            close(other);
    }
    size_t bytes = 2 << 20;
    char *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    struct io_uring_params own = {.flags = NO_MMAP};
    /* The last member of sq_off and of cq_off is user_addr, a name that older headers lack. */
    ((uint64_t *)(&own.sq_off + 1))[-1] = (uintptr_t)room;
    ((uint64_t *)(&own.cq_off + 1))[-1] = (uintptr_t)room + BYTES;
    int other = (int)syscall(SYS_io_uring_setup, 8, &own);
    printf("%s\n", other < 0 ? strerror(errno) : "made");
    return 0;
}

static void *read_and_leave(void *from)
{
    raw_ring_prepare(&ring, IORING_OP_READ, *(int *)from, data[1], 10, -1, 5);
    MUST(raw_ring_enter(&ring, 1, 0) == 1);
    return NULL;
}

/* Ends a thread while its request is under way; then the process executes another program. */
static int left_running(void)
{
    int ends[2];
    pthread_t thread;
    MUST(pipe(ends) == 0 && pthread_create(&thread, NULL, read_and_leave, &ends[0]) == 0);
    MUST(pthread_join(thread, NULL) == 0);
    read_and_leave(&ends[0]);
    execl("/bin/echo", "echo", "replaced", (char *)NULL);
    return 1;
}

static const struct harm_kind KINDS[] = {
    {"closed", closed},
    {"closed_by_number", closed_by_number},
    {"closed_by_range", closed_by_range},
    {"closed_by_dup", closed_by_dup},
    {"closed_by_dup3", closed_by_dup3},
    {"copied", copied},
    {"shared", shared},
    {"left_to_child", left_to_child},
    {"garbage", garbage},
    {"wrong_positions", wrong_positions},
    {"in_handler", in_handler},
    {"changing_table", changing_table},
    {"many_rings", many_rings},
    {"deep", deep},
    {"kinds_of_rings", kinds_of_rings},
    {"left_running", left_running},
};

int main(int count, char **words)
{
    setrlimit(RLIMIT_CPU, &(struct rlimit){60, 60});
    if (!raw_ring_open(&ring, DEPTH, 0))
        return 0;
    return run_kind(KINDS, sizeof KINDS / sizeof *KINDS, count > 1 ? words[1] : "");
}
