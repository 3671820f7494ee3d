/* Tests that sampling does not change waits: none ends early, and the program sees only its own signals.
 * Prints a line for each difference; exit code 1 if there is one. */
#include <aio.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

int __poll_chk(struct pollfd *, nfds_t, int, size_t);
int __ppoll_chk(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);

ssize_t __recv_chk(int, void *, size_t, size_t, int);
ssize_t __recvfrom_chk(int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *);

enum { MS = 30 };

static const struct timespec wait_time = {0, MS * 1000000};
static int failures, epoll, queue, semaphores;
static volatile sig_atomic_t alarms, profiles, shared;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

static void check(const char *name, int is_right, double begin)
{
    double took = now() - begin;
    if (is_right && took > 0.9e-3 * MS)
        return;
    printf("%s ended after %.1f ms: %s\n", name, 1e3 * took, strerror(errno));
    failures++;
}

#define CHECK(name, call, expected)                                                                          \
    do {                                                                                                     \
        double begin = now();                                                                                \
        errno = 0;                                                                                           \
        long got = call;                                                                                     \
        check(name, got == (expected) && errno != EINTR, begin);                                             \
    } while (0)

static void on_alarm(int number) { alarms++, (void)number; }
static void on_profile(int number) { profiles++, (void)number; }
static void on_shared(int number) { shared++, (void)number; }

static void alarm_in(int milliseconds)
{
    struct itimerval once = {{0, 0}, {0, milliseconds * 1000}};
    setitimer(ITIMER_REAL, &once, NULL);
}

static void *later(void *argument)
{
    struct {
        long type;
        char text[8];
    } message = {1, "x"};
    struct sembuf up = {0, 1, 0};
    (void)argument;
    nanosleep(&wait_time, NULL);
    msgsnd(queue, &message, sizeof message.text, 0);
    nanosleep(&wait_time, NULL);
    semop(semaphores, &up, 1);
    return NULL;
}

static void times(void)
{
    fd_set none;
    struct timeval time = {0, MS * 1000};
    struct timespec left;
    struct epoll_event event;
    sigset_t empty;
    FD_ZERO(&none);
    sigemptyset(&empty);
    CHECK("poll", poll(NULL, 0, MS), 0);
    CHECK("__poll_chk", __poll_chk(NULL, 0, MS, 0), 0);
    CHECK("select", select(0, &none, NULL, NULL, &time), 0);
    CHECK("epoll_wait", epoll_wait(epoll, &event, 1, MS), 0);
    CHECK("nanosleep", nanosleep(&wait_time, &left), 0);
    CHECK("clock_nanosleep", clock_nanosleep(CLOCK_REALTIME, 0, &wait_time, &left), 0);
    CHECK("thrd_sleep", thrd_sleep(&wait_time, &left), 0);
    CHECK("usleep", usleep(MS * 1000), 0);
    CHECK("sleep", sleep(1), 0);
    CHECK("ppoll", ppoll(NULL, 0, &wait_time, &empty), 0);
    CHECK("ppoll without a mask", ppoll(NULL, 0, &wait_time, NULL), 0);
    CHECK("__ppoll_chk", __ppoll_chk(NULL, 0, &wait_time, &empty, 0), 0);
    CHECK("pselect", pselect(0, NULL, NULL, NULL, &wait_time, &empty), 0);
    CHECK("epoll_pwait", epoll_pwait(epoll, &event, 1, MS, &empty), 0);
    CHECK("epoll_pwait2", epoll_pwait2(epoll, &event, 1, &wait_time, &empty), 0);
}

/* Returns the time at which a wait that begins now must end. */
static struct timespec end_by(clockid_t clock)
{
    struct timespec end;
    clock_gettime(clock, &end);
    end.tv_nsec += MS * 1000000;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    return end;
}

/* Calls functions that wait for a socket, from which nothing comes and which accepts no more data, until the
 * socket's time limit. */
static void sockets_with_limits(int fd)
{
    struct timeval limit = {0, MS * 1000};
    char byte, many[65536] = "";
    struct iovec memory = {&byte, 1};
    struct msghdr message = {.msg_iov = &memory, .msg_iovlen = 1};
    struct mmsghdr messages = {.msg_hdr = message};
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    socklen_t bytes = sizeof(sa_family_t);
    int listening = socket(AF_UNIX, SOCK_STREAM, 0), connecting = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK("recv", recv(fd, &byte, 1, 0), -1);
    CHECK("__recv_chk", __recv_chk(fd, &byte, 1, 1, 0), -1);
    CHECK("recvfrom", recvfrom(fd, &byte, 1, 0, NULL, NULL), -1);
    CHECK("__recvfrom_chk", __recvfrom_chk(fd, &byte, 1, 1, 0, NULL, NULL), -1);
    CHECK("recvmsg", recvmsg(fd, &message, 0), -1);
    CHECK("recvmmsg", recvmmsg(fd, &messages, 1, 0, NULL), -1);
    while (send(fd, many, sizeof many, MSG_DONTWAIT) > 0)
        continue;
    CHECK("send", send(fd, many, sizeof many, 0), -1);
    CHECK("sendto", sendto(fd, many, sizeof many, 0, NULL, 0), -1);
    memory = (struct iovec){many, sizeof many};
    CHECK("sendmsg", sendmsg(fd, &message, 0), -1);
    CHECK("sendmmsg", sendmmsg(fd, &messages, 1, 0), -1);
    bind(listening, (struct sockaddr *)&name, bytes);
    bytes = sizeof name;
    getsockname(listening, (struct sockaddr *)&name, &bytes);
    listen(listening, 0);
    setsockopt(listening, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    CHECK("accept", accept(listening, NULL, NULL), -1);
    CHECK("accept4", accept4(listening, NULL, NULL, 0), -1);
    connect(connecting, (struct sockaddr *)&name, bytes);
    connecting = socket(AF_UNIX, SOCK_STREAM, 0);
    setsockopt(connecting, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    CHECK("connect", connect(connecting, (struct sockaddr *)&name, bytes), -1);
}

/* Calls functions that report their time-out as an error. */
static void time_limits(void)
{
    struct timeval limit = {0, MS * 1000};
    int ends[2], sockets[2];
    char byte;
    sem_t never;
    sem_init(&never, 0, 0);
    struct timespec end = end_by(CLOCK_REALTIME);
    CHECK("sem_timedwait", sem_timedwait(&never, &end), -1);
    end = end_by(CLOCK_MONOTONIC);
    CHECK("sem_clockwait", sem_clockwait(&never, CLOCK_MONOTONIC, &end), -1);
    if (pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0) {
        struct aiocb request = {.aio_fildes = ends[0], .aio_buf = &byte, .aio_nbytes = 1};
        const struct aiocb *list[] = {&request};
        aio_read(&request);
        CHECK("aio_suspend", aio_suspend(list, 1, &wait_time), -1);
        if (write(ends[1], "x", 1) != 1 || aio_suspend(list, 1, NULL) != 0)
            failures++;
        setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        setsockopt(sockets[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        sockets_with_limits(sockets[0]);
    }
}

static void other_threads(void)
{
    struct {
        long type;
        char text[8];
    } message;
    struct sembuf down = {0, -1, 0};
    pthread_t thread;
    pthread_create(&thread, NULL, later, NULL);
    check("msgrcv", msgrcv(queue, &message, sizeof message.text, 0, 0) == (long)sizeof message.text, 0);
    check("semop", semop(semaphores, &down, 1) == 0, 0);
    pthread_join(thread, NULL);
    double begin = now();
    int got = semtimedop(semaphores, &down, 1, &wait_time);
    check("semtimedop", got == -1 && errno == EAGAIN, begin);
}

static int in_c11(void *argument) { return thrd_sleep(argument, NULL); }

static void other_kinds_of_threads(void)
{
    int result = -1;
    thrd_t thread;
    thrd_create(&thread, in_c11, (void *)&wait_time);
    thrd_join(thread, &result);
    if (result != 0) {
        printf("thrd_sleep in a thread of its own gave %d\n", result);
        failures++;
    }
}

/* Makes waits that end only with a signal of the program. The alarm repeats, because the first one may come
 * before the call of pause. */
static void signals(void)
{
    sigset_t all, empty, old;
    siginfo_t info;
    int number = 0;
    sigfillset(&all);
    sigemptyset(&empty);
    signal(SIGALRM, on_alarm);
    double begin = now();
    struct itimerval every = {{0, MS * 1000}, {0, MS * 1000}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &every, NULL);
    pause();
    check("pause", alarms >= 1, begin);
    setitimer(ITIMER_REAL, &never, NULL);

    sigprocmask(SIG_BLOCK, &all, &old);
    begin = now();
    alarms = 0;
    alarm_in(MS);
    sigsuspend(&empty);
    check("sigsuspend", alarms == 1, begin);
    alarm_in(MS);
    CHECK("sigwait", sigwait(&all, &number), 0);
    alarm_in(MS);
    CHECK("sigwaitinfo", sigwaitinfo(&all, &info), SIGALRM);
    alarm_in(MS);
    CHECK("sigtimedwait", sigtimedwait(&all, &info, NULL), SIGALRM);
    int fd = signalfd(-1, &all, 0);
    struct signalfd_siginfo read_info = {0};
    alarm_in(MS);
    CHECK("signalfd", read(fd, &read_info, sizeof read_info), (long)sizeof read_info);
    if (number != SIGALRM || read_info.ssi_signo != SIGALRM) {
        printf("a wait for all signals ended with %d and %u\n", number, read_info.ssi_signo);
        failures++;
    }
    close(fd);
    sigprocmask(SIG_SETMASK, &old, NULL);
}

static void spend(double seconds)
{
    for (double end = now() + seconds; now() < end;)
        continue;
}

/* Checks that a handler without SA_RESTART ends the call that waits, even if the timers' signal comes at the
 * same time. If the first alarm did not end the wait, the next one does. */
static void alarms_end_reads(void)
{
    enum { READS = 200 };
    struct itimerval never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = on_alarm};
    int ends[2], ended = 0;
    char byte;
    sigaction(SIGALRM, &action, NULL);
    for (int i = 0; i < READS && pipe(ends) == 0; i++) {
        struct itimerval every = {{0, 20000}, {0, 2000 + 7 * i}};
        int before = alarms;
        setitimer(ITIMER_REAL, &every, NULL);
        ended += read(ends[0], &byte, 1) == -1 && errno == EINTR && alarms == before + 1;
        setitimer(ITIMER_REAL, &never, NULL);
    }
    if (ended < READS / 2) {
        printf("%d of %d alarms ended a read\n", ended, READS);
        failures++;
    }
}

/* Blocks all signals for a while; afterwards no signal of the sampler may be pending. */
static void out_of_reach(void)
{
    sigset_t all, old, waiting;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &old);
    spend(0.1);
    sigpending(&waiting);
    for (int number = 1; number <= SIGRTMAX; number++)
        if (sigismember(&waiting, number) == 1) {
            printf("signal %d waits, which nobody sent\n", number);
            failures++;
        }
    sigprocmask(SIG_SETMASK, &old, NULL);
}

/* Checks that the program's own timers continue, that its handlers are called, and that restoring all signals
 * to their earlier actions does not end the process. */
static void own_signals(void)
{
    struct itimerval every = {{0, 10000}, {0, 10000}}, never = {{0, 0}, {0, 0}};
    signal(SIGPROF, on_profile);
    setitimer(ITIMER_PROF, &every, NULL);
    while (profiles < 5)
        spend(0.01);
    setitimer(ITIMER_PROF, &never, NULL);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
        struct sigaction mine = {.sa_handler = on_shared}, before, after;
        sigaction(number, &mine, &before);
        raise(number);
        sigaction(number, NULL, &after);
        if (before.sa_handler != SIG_DFL || after.sa_handler != on_shared || shared != 1) {
            printf("signal %d: the handler was called %d times\n", number, (int)shared);
            failures++;
        }
        shared = 0;
        signal(number, SIG_DFL);
    }
    spend(0.05);
    if (shared != 0) {
        printf("the program's handlers got %d signals that nobody sent\n", (int)shared);
        failures++;
    }
}

/* Checks that a real-time signal that nobody handles ends the process, as without the profiler. */
static void default_action(void)
{
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            raise(number);
            _exit(0);
        }
        waitpid(child, &status, 0);
        if (WIFSIGNALED(status) && WTERMSIG(status) == number)
            continue;
        printf("signal %d did not end the process: status %x\n", number, status);
        failures++;
    }
}

int main(void)
{
    epoll = epoll_create1(0);
    queue = msgget(IPC_PRIVATE, 0600);
    semaphores = semget(IPC_PRIVATE, 1, 0600);
    times();
    other_threads();
    other_kinds_of_threads();
    signals();
    time_limits();
    alarms_end_reads();
    out_of_reach();
    own_signals();
    default_action();
    msgctl(queue, IPC_RMID, NULL);
    semctl(semaphores, 0, IPC_RMID);
    fclose(fopen("made", "w"));
    return failures > 0;
}
