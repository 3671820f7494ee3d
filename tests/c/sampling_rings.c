/* Tests that sampling does not change waits for asynchronous calls: they end when a call completes, and no
 * earlier. Prints a line for each difference; exit code 1 if there is one. */
#include <errno.h>
#include <libaio.h>
#include <liburing.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MS = 30, NS = 1000000 };

static struct io_uring ring;
static int failures;

static void check(const char *name, int got)
{
    if (got >= 0)
        return;
    printf("%s: %s\n", name, strerror(-got));
    failures++;
}

/* Submits a call to the ring that completes after a while. */
static void begin(int submitted)
{
    static struct __kernel_timespec time = {.tv_nsec = MS * NS};
    io_uring_prep_timeout(io_uring_get_sqe(&ring), &time, 0, 0);
    if (submitted)
        io_uring_submit(&ring);
}

static void has_ended(const char *name)
{
    struct io_uring_cqe *completion = NULL;
    check(name, io_uring_peek_cqe(&ring, &completion));
    if (completion)
        io_uring_cqe_seen(&ring, completion);
}

/* Each call waits for a timeout of the ring. */
#define WAITS(call, submitted)                                                                               \
    do {                                                                                                     \
        begin(submitted);                                                                                    \
        check(#call, call);                                                                                  \
        has_ended(#call);                                                                                    \
    } while (0)

static int entered_by_number(void)
{
    long got = syscall(SYS_io_uring_enter, ring.ring_fd, 0L, 1L, (long)IORING_ENTER_GETEVENTS, NULL, 0L);
    return got < 0 ? -errno : (int)got;
}

static void of_liburing(void)
{
    struct io_uring_cqe *one;
    struct __kernel_timespec limit = {.tv_sec = 100};
    sigset_t none;
    sigemptyset(&none);
    WAITS(io_uring_wait_cqe(&ring, &one), 1); /* This function is inline and calls __io_uring_get_cqe. */
    WAITS(io_uring_wait_cqes(&ring, &one, 1, NULL, &none), 1);
    WAITS(io_uring_submit_and_wait(&ring, 1), 0);
    WAITS(io_uring_enter(ring.ring_fd, 0, 1, IORING_ENTER_GETEVENTS, &none), 1);
    WAITS(io_uring_enter2(ring.ring_fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0), 1);
    WAITS(entered_by_number(), 1);
    WAITS(io_uring_wait_cqe_timeout(&ring, &one, &limit), 1);
    WAITS(io_uring_submit_and_wait_timeout(&ring, &one, 1, &limit, &none), 0);
}

static void of_libaio(void)
{
    io_context_t context = 0;
    struct io_event event;
    struct timespec limit = {0, MS * NS};
    sigset_t none;
    sigemptyset(&none);
    check("io_setup", io_setup(1, &context));
    check("io_getevents", io_getevents(context, 1, 1, &event, &limit));
    check("io_pgetevents", io_pgetevents(context, 1, 1, &event, &limit, &none));
    io_destroy(context);
}

int main(void)
{
    int failed = io_uring_queue_init(8, &ring, 0);
    if (failed) {
        printf("none: %s\n", strerror(-failed));
        return 0;
    }
    of_liburing();
    of_libaio();
    return failures > 0;
}
