/* Recursion, mutual recursion, functions left by longjmp, threads, and I/O, built with
 * -finstrument-functions. Each function measures its own time, without that of its callees; the program
 * prints these seconds by function. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))

enum function { MAIN, RECURSIVE, EVEN, ODD, JUMPS, DEEPER, AFTER, THREAD, WRITES, FUNCTIONS };

static const char *const names[] = {"main",   "recursive", "even",   "odd",   "jumps",
                                    "deeper", "after",     "thread", "writes"};
static double spent[FUNCTIONS];
static jmp_buf place;

UNTRACED static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

UNTRACED static void spend(enum function function)
{
    double begin = now(), end;
    do
        end = now();
    while (end - begin < 0.002);
    spent[function] += end - begin;
}

void recursive(int depth)
{
    spend(RECURSIVE);
    if (depth > 1)
        recursive(depth - 1);
    spend(RECURSIVE);
}

void odd(int depth);

void even(int depth)
{
    spend(EVEN);
    if (depth > 0)
        odd(depth - 1);
}

void odd(int depth)
{
    spend(ODD);
    if (depth > 0)
        even(depth - 1);
}

void deeper(int depth)
{
    char room[1000];
    room[depth] = 1;
    spend(DEEPER);
    if (depth > 0 && room[depth])
        deeper(depth - 1);
    longjmp(place, 1);
}

void jumps(void)
{
    spend(JUMPS);
    if (setjmp(place) == 0)
        deeper(3);
    spend(JUMPS);
}

void after(void) { spend(AFTER); }

void *thread(void *unused)
{
    spend(THREAD);
    after();
    return unused;
}

void writes(int fd)
{
    static char data[1 << 16];
    spend(WRITES);
    for (int i = 0; i < 50; i++)
        if (write(fd, data, sizeof data) != sizeof data)
            exit(1);
}

UNTRACED static void print_all(void)
{
    for (int i = 0; i < FUNCTIONS; i++)
        printf("%s %.9f\n", names[i], spent[i]);
}

int main(void)
{
    pthread_t other;
    int fd = open("exclusive.txt", O_CREAT | O_WRONLY, 0600);
    spend(MAIN);
    recursive(10);
    even(10);
    jumps();
    jumps();
    writes(fd);
    after();
    pthread_create(&other, NULL, thread, NULL);
    pthread_join(other, NULL);
    close(fd);
    print_all();
    exit(0);
}
