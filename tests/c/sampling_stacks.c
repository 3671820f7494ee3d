/* Programs whose stacks have no room for a handler, or that have a stack for signals of their own. Prints the
 * faults, with exit code 1 if there is one. The argument names the program. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

/* The kernel's frame for a signal does not fit into LEFT bytes. */
enum { SMALL = 4096, LEFT = 1000, CONTEXTS = 8, ROUNDS = 200, OWN_STACK = 8192, HANDLER = 520 };

static volatile unsigned long sink;
static ucontext_t home, context[CONTEXTS];
static char *volatile handled_at;
static sigjmp_buf back;
static int failures;

static void must(int right, const char *what)
{
    if (!right && failures++ >= 0)
        printf("%s\n", what);
}

static void spin(long turns)
{
    for (long i = 0; i < turns; i++)
        sink += (unsigned long)i;
}

static void turn(int number)
{
    volatile char used[SMALL - LEFT];
    used[0] = 0;
    for (int round = 0; round < ROUNDS; round++) {
        spin(100000);
        swapcontext(&context[number], &home);
    }
}

/* Returns memory for a stack; the memory below it may not be touched. */
static char *guarded_stack(size_t bytes)
{
    char *memory = mmap(NULL, SMALL + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(memory, SMALL, PROT_NONE);
    return memory + SMALL;
}

/* Runs code in contexts with small stacks of their own. */
static void contexts(void)
{
    for (int i = 0; i < CONTEXTS; i++) {
        getcontext(&context[i]);
        context[i].uc_stack.ss_sp = guarded_stack(SMALL);
        context[i].uc_stack.ss_size = SMALL;
        context[i].uc_link = &home;
        makecontext(&context[i], (void (*)(void))turn, 1, i);
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < CONTEXTS; i++)
            swapcontext(&home, &context[i]);
}

static void *contexts_of_thread(void *argument)
{
    contexts();
    return argument;
}

static void note(int number) { handled_at = (char *)&number; }

static void overflow(int number)
{
    (void)number;
    siglongjmp(back, 1);
}

static int deeper(int depth)
{
    volatile char room[1024];
    room[depth % 1024] = (char)depth;
    return deeper(depth + 1) + room[0];
}

/* Sets, uses, queries and removes the thread's own signal stack; the program must never see another one. */
static void *own_stack(void *memory)
{
    stack_t mine = {.ss_sp = memory, .ss_size = OWN_STACK}, now = {.ss_flags = 77};
    must(sigaltstack(NULL, &now) == 0 && now.ss_flags == SS_DISABLE && !now.ss_sp,
         "a thread begins with a stack");
    must(sigaltstack(&mine, &now) == 0 && now.ss_flags == SS_DISABLE, "and another one was there");
    spin(100000000);
    must(sigaltstack(NULL, &now) == 0 && now.ss_sp == memory && now.ss_size == OWN_STACK,
         "its own is not its own");
    pthread_kill(pthread_self(), SIGUSR1);
    must(handled_at >= (char *)memory && handled_at < (char *)memory + OWN_STACK, "a handler ran elsewhere");
    must(sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, &now) == 0 && now.ss_sp == memory,
         "it is not taken away");
    must(sigaltstack(NULL, &now) == 0 && now.ss_flags == SS_DISABLE && !now.ss_sp, "after it there is one");
    spin(10000000);
    must(sigaltstack(&(stack_t){.ss_sp = memory, .ss_size = 100}, NULL) == -1,
         "too small a stack is accepted");
    mine.ss_size = 2048; /* This is the smallest stack that Linux accepts; it has no room for the frame that
                          * the kernel writes on processors with wide vectors. */
    must(sigaltstack(&mine, NULL) == 0, "the smallest stack is refused");
    spin(100000000);
    must(sigaltstack(NULL, &now) == 0 && now.ss_sp == memory && now.ss_size == 2048,
         "the smallest is another one");
    sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    return NULL;
}

/* Sets a signal stack that has room for the kernel's frame and for a small handler, but not for the
 * profiler's. Linux tells the size of its frame since 5.14. */
static void scarce_stack(void)
{
    size_t frame = getauxval(AT_MINSIGSTKSZ), bytes = frame + HANDLER;
    if (frame == 0)
        return;
    stack_t mine = {.ss_sp = guarded_stack(bytes), .ss_size = bytes};
    must(sigaltstack(&mine, NULL) == 0, "a scarce stack is refused");
    spin(100000000);
    sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
}

static void stacks_of_signals(void)
{
    pthread_t thread;
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_ONSTACK};
    void *memory = malloc(OWN_STACK);
    sigaction(SIGUSR1, &action, NULL);
    scarce_stack(); /* The thread is no longer sampled once it has had the smallest stack, in own_stack. */
    own_stack(memory);
    pthread_create(&thread, NULL, own_stack, memory);
    pthread_join(thread, NULL);
    free(memory);
}

/* Overflows the stack and survives, by a handler of the signal, as some programs do. */
static void overflows(void)
{
    struct sigaction action = {.sa_handler = overflow, .sa_flags = SA_ONSTACK};
    stack_t mine = {.ss_sp = malloc(OWN_STACK), .ss_size = OWN_STACK};
    sigaction(SIGSEGV, &action, NULL);
    sigaltstack(&mine, NULL);
    for (volatile int times = 0; times < 3; times++)
        if (sigsetjmp(back, 1) == 0)
            must(deeper(0) == -1, "it has no end");
}

int main(int argc, char **argv)
{
    pthread_t thread;
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "contexts") == 0) {
        contexts();
        pthread_create(&thread, NULL, contexts_of_thread, NULL);
        pthread_join(thread, NULL);
    } else if (strcmp(how, "own") == 0)
        stacks_of_signals();
    else if (strcmp(how, "overflow") == 0)
        overflows();
    else
        return 2;
    return failures > 0;
}
