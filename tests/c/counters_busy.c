/* Works, touches memory and sleeps, in two regions and a thread; prints the values of getrusage. Usage:
 * counters_busy [kill] */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../profiler/include/iolens.h"

enum { PAGES = 2000, SLEEPS = 50 };

static void touch(int pages)
{
    size_t bytes = (size_t)pages * 4096;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    for (size_t at = 0; at < bytes; at += 4096)
        memory[at] = 1;
    munmap(memory, bytes);
}

static void *in_thread(void *unused)
{
    iolens_region_begin(3, "thread");
    touch(PAGES);
    iolens_region_end(3);
    return unused;
}

int main(int argc, char **argv)
{
    struct rusage usage;
    pthread_t thread;
    iolens_region_begin(1, "touch");
    touch(PAGES);
    iolens_region_end(1);
    iolens_region_begin(2, "sleep");
    getrusage(RUSAGE_THREAD, &usage);
    /* A sleep that ends before the kernel takes the core away is no context switch, so the kernel's count is
     * printed and not SLEEPS. */
    long slept = -usage.ru_nvcsw;
    for (int i = 0; i < SLEEPS; i++)
        usleep(100);
    getrusage(RUSAGE_THREAD, &usage);
    slept += usage.ru_nvcsw;
    iolens_region_end(2);
    pthread_create(&thread, NULL, in_thread, NULL);
    pthread_join(thread, NULL);
    iolens_record(0);
    touch(PAGES);
    iolens_record(1);
    if (argc > 1 && strcmp(argv[1], "kill") == 0) {
        FILE *file = fopen("killed.txt", "w"); /* The first recorded file creates the spool. */
        usleep(150000);
        iolens_flush();
        raise(SIGKILL);
        fclose(file);
    }
    if (argc > 1 && strcmp(argv[1], "fork") == 0) {
        if (fork() == 0) {
            touch(2 * PAGES);
            _exit(0);
        }
        wait(NULL);
    }
    getrusage(RUSAGE_SELF, &usage);
    printf("slept %ld\nminor-faults %ld\nvoluntary-switches %ld\npeak-memory %ld\ntask-clock %.0f\n", slept,
           usage.ru_minflt, usage.ru_nvcsw, usage.ru_maxrss * 1024,
           1e9 * (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
               1e3 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec));
    return 0;
}
