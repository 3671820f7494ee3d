/* Programs that are difficult for samplers, by their first argument: threads, forks, deep, signals,
 * cancelled, exec. The exit code is 0 if everything worked as without a sampler. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

static void spend(double seconds)
{
    for (double end = now() + seconds; now() < end;)
        continue;
}

static void *brief(void *argument)
{
    spend(0.0003);
    return argument;
}

/* Starts a thousand threads in twenty rounds of fifty. */
static int threads(void)
{
    enum { AT_ONCE = 50, ROUNDS = 20 };
    pthread_t thread[AT_ONCE];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < AT_ONCE; i++)
            if (pthread_create(&thread[i], NULL, brief, NULL) != 0)
                return 1;
        for (int i = 0; i < AT_ONCE; i++)
            pthread_join(thread[i], NULL);
    }
    return 0;
}

static void *ask_and_fork(void *argument)
{
    for (int i = 0; i < 25; i++) {
        pid_t child = fork();
        int status;
        if (child == 0) {
            spend(0.002);
            _exit(7);
        }
        if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 7)
            return (void *)1;
    }
    return argument;
}

static int forks(void)
{
    pthread_t thread[4];
    void *result;
    int failed = 0;
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, ask_and_fork, NULL);
    for (int i = 0; i < 4; i++) {
        pthread_join(thread[i], &result);
        failed |= result != NULL;
    }
    return failed;
}

static volatile int sink;
__attribute__((noinline)) static int deep(int depth)
{
    volatile char room[64];
    room[0] = depth;
    if (depth == 0)
        spend(0.2);
    else
        deep(depth - 1);
    return room[0];
}

static sigjmp_buf back;
static volatile sig_atomic_t jumps;

static void jump(int number)
{
    jumps++;
    siglongjmp(back, number);
}

__attribute__((noinline)) static int overflow(int depth)
{
    volatile char room[4096];
    room[0] = depth;
    return overflow(depth + 1) + room[0];
}

/* Lets signal handlers jump out of any code that they interrupt. They run on a stack of their own, because
 * the program's stack may be full. */
static int signals(void)
{
    static char other[65536];
    stack_t alternative = {.ss_sp = other, .ss_size = sizeof other};
    struct sigaction action = {.sa_handler = jump, .sa_flags = SA_ONSTACK};
    struct itimerval every = {{0, 1700}, {0, 1700}}, never = {{0, 0}, {0, 0}};
    sigaltstack(&alternative, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    double end = now() + 0.3;
    if (sigsetjmp(back, 1) >= 0)
        while (now() < end || jumps < 10)
            spend(0.001);
    setitimer(ITIMER_REAL, &never, NULL);
    for (volatile int i = 0; i < 3; i++)
        if (sigsetjmp(back, 1) == 0)
            overflow(0);
    return 0;
}

static void *for_ever(void *argument)
{
    for (;;) {
        spend(0.001);
        pthread_testcancel();
    }
    return argument;
}

static void *asleep(void *argument)
{
    sleep(1000);
    return argument;
}

static int cancelled(void)
{
    void *(*functions[])(void *) = {for_ever, asleep};
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        void *result;
        pthread_create(&thread, NULL, functions[i % 2], NULL);
        spend(0.005);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        if (result != PTHREAD_CANCELED)
            return 1;
    }
    return 0;
}

/* Replaces the program by another one (exec). The timers and pending signals of the first program must end
 * with it; the second program must be sampled from its start. */
static int becomes(char **argv, int left)
{
    char text[16];
    spend(0.02);
    if (left == 0)
        return 0;
    snprintf(text, sizeof text, "%d", left - 1);
    execl("/proc/self/exe", argv[0], "exec", text, NULL);
    return 1;
}

int main(int argc, char **argv)
{
    if (strcmp(argv[1], "threads") == 0)
        return threads();
    if (strcmp(argv[1], "forks") == 0)
        return forks();
    if (strcmp(argv[1], "deep") == 0)
        return deep(50000) < -128;
    if (strcmp(argv[1], "signals") == 0)
        return signals();
    if (strcmp(argv[1], "cancelled") == 0)
        return cancelled();
    return becomes(argv, argc > 2 ? atoi(argv[2]) : 20);
}
