/* What one wrapped call costs: blocks of calls through the preloaded library and blocks of the same calls
 * straight into the C library alternate in one process. Prints the medians over block pairs. wrappers FILE
 * [threads]  (FILE on tmpfs; with threads each has its own file FILE.<n>) */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 2000, PAIRS = 400, BYTES = 8, MAX_THREADS = 64 };

typedef ssize_t positioned(int fd, void *memory, size_t bytes, off_t offset);
typedef ssize_t plain(int fd, const void *memory, size_t bytes);

static void *libc;

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double positioned_ns(positioned *call, int fd, void *memory)
{
    double begin = now_ns();
    for (int i = 0; i < BLOCK; i++)
        if (call(fd, memory, BYTES, BYTES * i) != BYTES)
            exit(1);
    return (now_ns() - begin) / BLOCK;
}

static double plain_ns(plain *call, int fd, void *memory)
{
    lseek(fd, 0, SEEK_SET);
    double begin = now_ns();
    for (int i = 0; i < BLOCK; i++)
        if (call(fd, memory, BYTES) != BYTES)
            exit(1);
    return (now_ns() - begin) / BLOCK;
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double median(double *values)
{
    qsort(values, PAIRS, sizeof *values, compare);
    return (values[PAIRS / 2 - 1] + values[PAIRS / 2]) / 2;
}

static void report(const char *name, double *direct, double *wrapped)
{
    double extra[PAIRS];
    for (int i = 0; i < PAIRS; i++)
        extra[i] = wrapped[i] - direct[i];
    printf("%-8s %8.1f %8.1f %8.1f\n", name, median(direct), median(wrapped), median(extra));
}

static void bench_positioned(const char *name, positioned *wrapped, int fd)
{
    double memory = 0, times[2][PAIRS];
    positioned *direct = (positioned *)dlsym(libc, name);
    for (int i = 0; i < PAIRS; i++) {
        times[i & 1][i] = positioned_ns(i & 1 ? wrapped : direct, fd, &memory);
        times[~i & 1][i] = positioned_ns(i & 1 ? direct : wrapped, fd, &memory);
    }
    report(name, times[0], times[1]);
}

static void bench_plain(const char *name, plain *wrapped, int fd)
{
    double memory = 0, times[2][PAIRS];
    plain *direct = (plain *)dlsym(libc, name);
    for (int i = 0; i < PAIRS; i++) {
        times[i & 1][i] = plain_ns(i & 1 ? wrapped : direct, fd, &memory);
        times[~i & 1][i] = plain_ns(i & 1 ? direct : wrapped, fd, &memory);
    }
    report(name, times[0], times[1]);
}

static void *write_own_file(void *path)
{
    double memory = 0, *best = malloc(sizeof *best);
    int fd = open(path, O_CREAT | O_RDWR, 0600);
    *best = 1e30;
    for (int i = 0; i < PAIRS; i++) {
        double ns = positioned_ns((positioned *)pwrite, fd, &memory);
        *best = ns < *best ? ns : *best;
    }
    close(fd);
    unlink(path);
    return best;
}

static void bench_threads(const char *file, int threads)
{
    static char path[MAX_THREADS][4096];
    pthread_t thread[MAX_THREADS];
    for (int i = 0; i < threads; i++) {
        snprintf(path[i], sizeof path[i], "%s.%d", file, i);
        pthread_create(&thread[i], NULL, write_own_file, path[i]);
    }
    for (int i = 0; i < threads; i++) {
        void *best;
        pthread_join(thread[i], &best);
        printf("thread %d of %d, own file: best block %.1f ns per pwrite\n", i, threads, *(double *)best);
    }
}

int main(int count, char **argument)
{
    int fd = count > 1 ? open(argument[1], O_CREAT | O_RDWR, 0600) : -1;
    libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    if (fd < 0 || !libc) {
        fprintf(stderr, "usage: wrappers FILE [threads]\n");
        return 2;
    }
    if (count > 2) {
        bench_threads(argument[1], atoi(argument[2]) < MAX_THREADS ? atoi(argument[2]) : MAX_THREADS);
    } else {
        printf("%-8s %8s %8s %8s   (ns per call of %d bytes, median of %d pairs)\n", "", "direct", "wrapped",
               "extra", BYTES, PAIRS);
        bench_positioned("pwrite", (positioned *)pwrite, fd);
        bench_positioned("pread", pread, fd);
        bench_plain("write", write, fd);
    }
    close(fd);
    unlink(argument[1]);
    return 0;
}
