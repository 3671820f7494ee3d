/* Built with -finstrument-functions: makes calls whose counts follow from their work, or that the program
 * measures itself. Prints the values measured inside the calls and around all of them. traced_counted [kill]
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../profiler/include/iolens.h"

#define UNTRACED __attribute__((no_instrument_function))

enum { PAGES = 50, CALLS = 20, SLEEPS = 10, ROUNDS = 100000, DEEP = 100, JUMPS = 300, THREADS = 100 };
enum { TINY_CALLS = 30000, ALL_PAGES = 20000, FILES = 64 };

static char *memory;
static size_t page;
static volatile long sum;
static long slept, slept_around, burned, burned_around;
static jmp_buf back, inner;

UNTRACED static void touch_fresh(int pages)
{
    for (int i = 0; i < pages; i++, memory += page)
        *memory = 1;
}

UNTRACED static long cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000 + now.tv_nsec;
}

UNTRACED static long switches(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

void touches(void) { touch_fresh(PAGES); }

void touches_inside(void) { touches(); }

void sleeps(void)
{
    slept -= switches();
    usleep(1000);
    slept += switches();
}

void burns(void)
{
    burned -= cpu_ns();
    for (int i = 0; i < ROUNDS; i++)
        sum += i;
    burned += cpu_ns();
}

void recursive(int depth)
{
    touch_fresh(1);
    if (depth > 1)
        recursive(depth - 1);
    sum++;
}

/* Calls itself `depth` times and then leaves all these calls by longjmp, so that none of them returns. */
void jumps(int depth)
{
    touch_fresh(1);
    if (depth > 1)
        jumps(depth - 1);
    sum++;
    longjmp(back, 1);
}

/* Calls itself three deep and leaves the two inner calls by longjmp, so that only the outermost one returns.
 */
void jumps_to_itself(int depth)
{
    touch_fresh(10);
    if (depth == 3 && setjmp(inner) == 0)
        jumps_to_itself(2);
    if (depth == 2)
        jumps_to_itself(1);
    if (depth == 1)
        longjmp(inner, 1);
    sum++;
}

void is_cut(void)
{
    iolens_record(0);
    touch_fresh(PAGES);
    iolens_record(1);
}

void ends_off(void)
{
    touch_fresh(PAGES);
    iolens_record(0);
}

void enters(void)
{
    iolens_region_begin(1, "inner");
    touches();
}

void forks(void)
{
    touch_fresh(PAGES);
    if (fork() > 0)
        wait(NULL);
    sum++;
}

void after_fork(void) { touch_fresh(PAGES); }

void tiny(int i) { sum += i; }

void *in_thread(void *unused)
{
    touches();
    return unused;
}

UNTRACED static void measured_calls(void)
{
    slept_around = -switches();
    for (int i = 0; i < SLEEPS; i++)
        sleeps();
    slept_around += switches();
    burned_around = -cpu_ns();
    for (int i = 0; i < CALLS; i++)
        burns();
    burned_around += cpu_ns();
}

UNTRACED static void odd_calls(void)
{
    recursive(DEEP);
    for (volatile int i = 0; i < JUMPS; i++)
        if (setjmp(back) == 0)
            jumps(3);
    jumps_to_itself(3);
    is_cut();
    ends_off();
    iolens_record(1);
    enters();
    iolens_region_end(1);
}

int main(int argc, char **argv)
{
    const struct rlimit few = {FILES, FILES};
    pthread_t thread;
    pid_t parent = getpid();
    page = (size_t)sysconf(_SC_PAGESIZE);
    setrlimit(RLIMIT_NOFILE, &few);
    memory = mmap(NULL, ALL_PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, ALL_PAGES * page, MADV_NOHUGEPAGE);
    for (int i = 0; i < CALLS; i++)
        touches();
    touches_inside();
    measured_calls();
    odd_calls();
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&thread, NULL, in_thread, NULL);
        pthread_join(thread, NULL);
    }
    for (int i = 0; i < TINY_CALLS; i++)
        tiny(i);
    FILE *file = fopen("counted.txt", "w");
    if (argc > 1 && strcmp(argv[1], "kill") == 0) {
        iolens_flush();
        raise(SIGKILL);
    }
    forks();
    after_fork();
    if (getpid() == parent)
        printf("slept %ld\nslept_around %ld\nburned %ld\nburned_around %ld\n", slept, slept_around, burned,
               burned_around);
    return file == NULL || fclose(file) != 0;
}
