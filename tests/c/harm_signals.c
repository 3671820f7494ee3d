/* harm_signals KIND: handlers and timers of the program's own, and ends by signals. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harm_kinds.h"

enum { PAGE = 4096, ENOUGH = 5 };

static volatile sig_atomic_t caught;
static sigjmp_buf outside;
static char *barrier;

static void count(int number)
{
    (void)number;
    caught = caught + 1;
}

static void leave(int number)
{
    (void)number;
    _exit(5);
}

static void jump(int number) { siglongjmp(outside, number); }

static void unlock(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    mprotect((char *)((unsigned long)info->si_addr & -(unsigned long)PAGE), PAGE, PROT_READ | PROT_WRITE);
    caught = caught + 1;
}

static void handle(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigaction(number, &action, NULL);
}

static void write_file(void)
{
    int fd = open("f", O_WRONLY | O_CREAT | O_APPEND, 0600);
    (void)!write(fd, "text\n", 5);
    close(fd);
}

static int profile_timer(int which, int number)
{
    const struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0}};
    handle(number, count, SA_RESTART);
    setitimer(which, &often, NULL);
    while (caught < ENOUGH)
        write_file();
    setitimer(which, &never, NULL);
    unlink("f");
    return puts("timer") < 0;
}
static int prof(void) { return profile_timer(ITIMER_PROF, SIGPROF); }
static int virtual(void) { return profile_timer(ITIMER_VIRTUAL, SIGVTALRM); }
static int real(void) { return profile_timer(ITIMER_REAL, SIGALRM); }

static atomic_int notified;
static void notify(union sigval value) { notified += value.sival_int; }

static int posix_timers(void)
{
    const struct itimerspec often = {{0, 2000000}, {0, 2000000}};
    struct sigevent by_thread = {.sigev_notify = SIGEV_THREAD, .sigev_value.sival_int = 1};
    struct sigevent by_signal = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 3};
    timer_t timer[2];
    by_thread.sigev_notify_function = notify;
    handle(SIGRTMIN + 3, count, SA_RESTART);
    timer_create(CLOCK_MONOTONIC, &by_thread, &timer[0]);
    timer_create(CLOCK_PROCESS_CPUTIME_ID, &by_signal, &timer[1]);
    for (int i = 0; i < 2; i++)
        timer_settime(timer[i], 0, &often, NULL);
    while (caught < ENOUGH || notified < ENOUGH)
        write_file();
    for (int i = 0; i < 2; i++)
        timer_delete(timer[i]);
    unlink("f");
    return puts("timers") < 0;
}

/* Handles SIGSEGV as a write barrier, as garbage collectors do. */
static int segv(void)
{
    struct sigaction action = {.sa_sigaction = unlock, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    barrier = mmap(NULL, 8 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 8; i++)
        barrier[i * PAGE] = 1;
    int fd = open("f", O_RDWR | O_CREAT, 0600);
    mprotect(barrier, PAGE, PROT_NONE);
    long result = write(fd, barrier, 10);
    printf("%d %ld %s\n", (int)caught, result, strerror(errno));
    return 0;
}

static int segv_jump(void)
{
    handle(SIGSEGV, jump, SA_NODEFER);
    for (volatile int i = 0; i < 3; i++)
        if (!sigsetjmp(outside, 1))
            *(volatile int *)8 = 1;
        else
            write_file();
    return puts("back") < 0;
}

static int bus(void)
{
    int fd = open("f", O_RDWR | O_CREAT, 0600);
    (void)!ftruncate(fd, PAGE);
    char *map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
    (void)!ftruncate(fd, 0);
    handle(SIGBUS, jump, SA_NODEFER);
    if (!sigsetjmp(outside, 1))
        return map[5];
    return puts("bus") < 0;
}

/* Lets a signal handler end the process during a write. */
static int exit_in_handler(void)
{
    const struct itimerval soon = {{0, 0}, {0, 20000}};
    handle(SIGALRM, leave, 0);
    setitimer(ITIMER_REAL, &soon, NULL);
    int fd = open("/dev/null", O_WRONLY);
    for (;;)
        (void)!write(fd, "text", 4);
}

static int jump_out_of_writes(void)
{
    const struct itimerval soon = {{0, 0}, {0, 3000}};
    static volatile int jumps;
    int fd = open("/dev/null", O_WRONLY);
    handle(SIGALRM, jump, 0);
    sigsetjmp(outside, 1);
    if (jumps++ < ENOUGH) {
        setitimer(ITIMER_REAL, &soon, NULL);
        for (;;)
            (void)!write(fd, "text", 4);
    }
    return printf("%d\n", jumps) < 0;
}

static int ends(void (*end)(void))
{
    pid_t child = fork();
    int status = 0;
    if (child == 0) {
        write_file();
        fputs("held", stdout);
        end();
    }
    waitpid(child, &status, 0);
    printf("%d %d %d\n", WIFSIGNALED(status), WTERMSIG(status), WEXITSTATUS(status));
    return 0;
}
static void kill_itself(void) { kill(getpid(), SIGKILL), pause(); }
static void write_to_nobody(void)
{
    int ends[2];
    (void)!pipe(ends);
    close(ends[0]);
    (void)!write(ends[1], "x", 1);
}
static void dump_nothing(void) { raise(SIGQUIT); }
static void divide(void) { raise(SIGFPE); }
static int aborted(void) { return ends(abort); }
static int killed(void) { return ends(kill_itself); }
static int broken_pipe(void) { return ends(write_to_nobody); }
static int quit(void) { return ends(dump_nothing); }
static int arithmetic(void) { return ends(divide); }
static int abort_handled(void)
{
    handle(SIGABRT, leave, 0);
    abort();
}

/* Checks that blocked signals can be fetched one by one, and that no other signal arrives. */
static int fetched(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    int fd = signalfd(-1, &all, SFD_NONBLOCK);
    kill(getpid(), SIGUSR2), kill(getpid(), SIGUSR1), kill(getpid(), SIGRTMAX);
    for (int i = 0; i < 3; i++)
        printf("%d ", sigwaitinfo(&all, NULL));
    const struct timespec nothing = {0, 20000000};
    printf("%d ", sigtimedwait(&all, NULL, &nothing));
    struct signalfd_siginfo info;
    return printf("%ld\n", (long)read(fd, &info, sizeof info)) < 0;
}

/* Prints the signals that are blocked or handled although the program set none, the flags of the alternate
 * stack, and the time left on the timers. */
static int untouched(void)
{
    sigset_t blocked;
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    for (int number = 1; number < 32; number++) {
        struct sigaction action;
        if (sigismember(&blocked, number) || sigaction(number, NULL, &action) ||
            (action.sa_handler != SIG_DFL && number != SIGPIPE))
            printf("%d ", number);
    }
    struct itimerval timer[3];
    stack_t stack;
    sigaltstack(NULL, &stack);
    for (int which = 0; which < 3; which++)
        getitimer(which, &timer[which]);
    return printf("%d %ld\n", stack.ss_flags, timer[0].it_value.tv_usec + timer[2].it_value.tv_usec) < 0;
}

/* Returns the milliseconds since `begin`. The kernel never restarts the calls that are measured with this
 * function; each must end at its time-out, and not earlier. */
static long since(const struct timespec *begin)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - begin->tv_sec) * 1000 + (now.tv_nsec - begin->tv_nsec) / 1000000;
}

static struct timespec soon(void)
{
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_nsec += 30000000;
    at.tv_sec += at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    return at;
}

static void *spin(void *done)
{
    while (!*(atomic_int *)done)
        ;
    return NULL;
}

static int waits(void)
{
    const struct timespec pause_for = {0, 30000000};
    struct timeval pause_for_tv = {0, 30000}, limit = {0, 30000};
    int pair[2], epoll = epoll_create1(0), result[9], set = semget(IPC_PRIVATE, 1, 0600);
    static atomic_int done;
    pthread_t busy;
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    pthread_create(&busy, NULL, spin, &done);
    struct pollfd asked = {pair[0], POLLIN, 0};
    struct sembuf take = {0, -1, 0};
    char byte;
    struct timespec begin, at;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    result[0] = nanosleep(&pause_for, NULL);
    result[1] = poll(&asked, 1, 30);
    result[2] = select(0, NULL, NULL, NULL, &pause_for_tv);
    result[3] = epoll_wait(epoll, &(struct epoll_event){0}, 1, 30);
    result[4] = (int)recv(pair[0], &byte, 1, 0) < 0 ? errno : 0;
    result[5] = semtimedop(set, &take, 1, &pause_for) < 0 ? errno : 0;
    at = soon();
    result[6] = sem_timedwait(&semaphore, &at) < 0 ? errno : 0;
    result[7] = clock_nanosleep(CLOCK_MONOTONIC, 0, &pause_for, NULL);
    result[8] = usleep(30000);
    long took = since(&begin);
    done = 1;
    pthread_join(busy, NULL);
    semctl(set, 0, IPC_RMID);
    for (int i = 0; i < 9; i++)
        printf("%d ", result[i]);
    return printf("%d\n", took >= 9 * 30 - 9) < 0;
}

static const struct harm_kind KINDS[] = {{"prof", prof},
                                         {"virtual", virtual},
                                         {"real", real},
                                         {"posix_timers", posix_timers},
                                         {"segv", segv},
                                         {"segv_jump", segv_jump},
                                         {"bus", bus},
                                         {"exit_in_handler", exit_in_handler},
                                         {"jump_out_of_writes", jump_out_of_writes},
                                         {"aborted", aborted},
                                         {"killed", killed},
                                         {"broken_pipe", broken_pipe},
                                         {"quit", quit},
                                         {"arithmetic", arithmetic},
                                         {"abort_handled", abort_handled},
                                         {"fetched", fetched},
                                         {"untouched", untouched},
                                         {"waits", waits}};

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOFBF, PAGE);
    return argc < 2 ? 99 : run_kind(KINDS, sizeof KINDS / sizeof *KINDS, argv[1]);
}
