/* Compares the unwinder with the compiler's own return addresses: chains of calls through frames of many
 * shapes, and through a signal handler. Prints a line for each wrong chain; exit code 1 if there is one. */
#include <alloca.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../profiler/src/unwind/unwind.h"
#include "../../profiler/src/runtime/thread_room.h"

/* Stands in for the library's function, so that the unwinder can be linked without the rest of the library.
 */
void *thread_room(struct thread_rooms *rooms, void **mine) { return *mine = calloc(1, rooms->bytes); }

enum { MOST = 64 };

static struct stack_span stack;
static uintptr_t frames[MOST];
static struct unwound found;
static uintptr_t expected[MOST];
static int expected_count, failures;
static volatile sig_atomic_t caught;

#define HERE() (expected[expected_count++] = (uintptr_t)__builtin_return_address(0))

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    found = unwind_context(context, stack, frames, MOST);
    caught = 1;
}

/* Checks that the return addresses which the functions themselves know are among the frames, in this
 * order. */
static void compare(const char *name)
{
    int at = 0;
    for (int i = 0; i < expected_count; i++) {
        while (at < (int)found.count && frames[at] != expected[i])
            at++;
        if (at++ < (int)found.count)
            continue;
        printf("%s: caller %d of %d is missing\n", name, i, expected_count);
        failures++;
        break;
    }
    if (!found.whole) {
        printf("%s: the outermost frame was not reached in %zu frames\n", name, found.count);
        failures++;
    }
    expected_count = 0;
}

__attribute__((noinline)) static void interrupted(void)
{
    HERE();
    raise(SIGUSR1);
    __asm__ volatile("");
}

__attribute__((noinline)) static void with_alloca(int bytes)
{
    volatile char *room = alloca(bytes);
    room[0] = 1;
    interrupted();
    HERE();
    room[bytes - 1] = 1;
}

__attribute__((noinline)) static void realigned(void)
{
    _Alignas(64) volatile char room[64];
    room[0] = 1;
    with_alloca(1000);
    HERE();
    room[1] = 1;
}

__attribute__((noinline, optimize("no-omit-frame-pointer"))) static void with_frame_pointer(int a)
{
    volatile int kept = a;
    realigned();
    HERE();
    kept++;
}

static int by_library(const void *a, const void *b)
{
    static int once;
    if (!once++) {
        with_frame_pointer(3);
        HERE();
    }
    return *(const int *)a - *(const int *)b;
}

static void inside_handler(int number)
{
    (void)number;
    interrupted();
    HERE();
}

__attribute__((noinline)) static int deep(int depth)
{
    volatile int kept = depth;
    if (depth == 0)
        interrupted();
    else
        deep(depth - 1);
    return kept;
}

/* Interrupts functions anywhere, also in their first instructions and in the stubs of the dynamic linker. */
static volatile sig_atomic_t whole, all;
static void on_alarm(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    uintptr_t mine[MOST];
    whole += unwind_context(context, stack, mine, MOST).whole;
    all++;
}

__attribute__((noinline)) static double work(int n)
{
    char text[64];
    double sum = 0;
    for (int i = 0; i < n; i++) {
        snprintf(text, sizeof text, "%d %g", i, sum);
        sum += strtod(strchr(text, ' '), NULL) + strlen(text);
    }
    return sum;
}

static void anywhere(void)
{
    struct sigaction action = {.sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    struct itimerspec every = {{0, 200000}, {0, 200000}};
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &every, NULL);
    while (all < 1000)
        work(100);
    timer_delete(timer);
    if (all - whole > all / 100) {
        printf("anywhere: %d of %d stacks are whole\n", (int)whole, (int)all);
        failures++;
    }
}

/* Compares the unwinder's chains with those that the program notes itself. With an argument, the unwinder
 * remembers the rules that it read from the tables. */
int main(int count, char **argument)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    (void)argument;
    unwind_start();
    stack = unwind_stack();
    if (count > 1)
        unwind_prepare();
    sigaction(SIGUSR1, &action, NULL);

    for (int turn = 0; turn < 2; turn++) {
        int numbers[] = {3, 1, 2};
        qsort(numbers, 3, sizeof *numbers, by_library);
        /* Each function notes its caller after its callee has returned, so that the innermost one is first.
         */
        compare("shapes of frames");
    }

    signal(SIGUSR2, inside_handler);
    raise(SIGUSR2);
    compare("inside a signal handler");

    static char other_stack[65536];
    stack_t alternative = {.ss_sp = other_stack, .ss_size = sizeof other_stack};
    sigaltstack(&alternative, NULL);
    struct sigaction on_other = {.sa_handler = inside_handler, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR2, &on_other, NULL);
    raise(SIGUSR2);
    compare("on another stack");

    deep(1000);
    expected_count = 0;
    if (found.whole || found.count != MOST) {
        printf("deep recursion: %zu frames\n", found.count);
        failures++;
    }
    anywhere();

    found = unwind_callers((uintptr_t)__builtin_return_address(0), (uintptr_t)__builtin_frame_address(0),
                           stack, frames, MOST);
    expected[expected_count++] = (uintptr_t)__builtin_return_address(0);
    compare("from a function");
    /* The first turn uses the tables, the second one remembered rules. */
    for (int turn = 0; turn < 2; turn++) {
        struct unwinding walk = unwind_begin((uintptr_t)__builtin_return_address(0),
                                             (uintptr_t)__builtin_frame_address(0), stack);
        found = (struct unwound){0};
        while (found.count < MOST && unwind_next(&walk, &frames[found.count]))
            found.count++;
        found.whole = walk.whole;
        compare("frame by frame");
    }
    return failures > 0 || !caught;
}
