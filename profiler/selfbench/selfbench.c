/* Measures the cost of a preloaded library. In one process, blocks of calls that pass through it alternate
 * with blocks of the same calls made directly in the C library. `iolens selfbench` runs it under each library
 * and prints the table.
 *
 *   iolens-selfbench calls FILE N
 *     Prints a line "call TAB direct TAB extra TAB low TAB high" for each kind of call: medians of N pairs of
 *     blocks in ns per call, and the 95 % interval of the median of `extra`. Calls named "cold caches" are
 *     timed one at a time.
 *   iolens-selfbench threads FILE N
 *     Prints the ns per pwrite in N threads that each write to a file of their own: the mean over the
 *     threads of the fastest block of each.
 *   iolens-selfbench files DIR N
 *     Writes N files. Prints, as of the end of main, the processor time in seconds and the largest memory in
 *     KiB. */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EVICTED_BYTES = 8 << 20, CACHE_LINE = 64, COLD_PAIRS = 200 };
enum { BLOCK = 2000, MAX_PAIRS = 10000, BYTES = 8, THREAD_BLOCKS = 100, MAX_THREADS = 64, PATH_BYTES = 4096 };

struct functions {
    ssize_t (*pwrite)(int fd, const void *memory, size_t bytes, off_t offset);
    ssize_t (*pread)(int fd, void *memory, size_t bytes, off_t offset);
    ssize_t (*write)(int fd, const void *memory, size_t bytes);
    int (*open)(const char *path, int flags, ...);
    int (*close)(int fd);
    size_t (*fwrite)(const void *memory, size_t size, size_t count, FILE *stream);
};

struct target {
    const char *path;
    int fd;
    FILE *stream;
};

/* Makes `calls` calls of the tested function. */
typedef void block_fn(const struct functions *f, const struct target *target, int calls);

static void need(int condition, const char *what)
{
    if (condition)
        return;
    perror(what);
    exit(1);
}

static double read_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double now_ns(void) { return read_ns(CLOCK_MONOTONIC); }

static void block_pwrite(const struct functions *f, const struct target *target, int calls)
{
    const double memory = 0;
    for (int i = 0; i < calls; i++)
        need(f->pwrite(target->fd, &memory, BYTES, BYTES * i) == BYTES, "pwrite");
}

static void block_pread(const struct functions *f, const struct target *target, int calls)
{
    double memory;
    for (int i = 0; i < calls; i++)
        need(f->pread(target->fd, &memory, BYTES, BYTES * i) == BYTES, "pread");
}

static void block_write(const struct functions *f, const struct target *target, int calls)
{
    const double memory = 0;
    lseek(target->fd, 0, SEEK_SET);
    for (int i = 0; i < calls; i++)
        need(f->write(target->fd, &memory, BYTES) == BYTES, "write");
}

static void block_fwrite(const struct functions *f, const struct target *target, int calls)
{
    const double memory = 0;
    rewind(target->stream);
    for (int i = 0; i < calls; i++)
        need(f->fwrite(&memory, BYTES, 1, target->stream) == 1, "fwrite");
}

static void block_open(const struct functions *f, const struct target *target, int calls)
{
    for (int i = 0; i < calls; i++)
        need(f->close(f->open(target->path, O_RDWR)) == 0, target->path);
}

static double block_ns(block_fn *block, const struct functions *f, const struct target *target, int calls)
{
    double begin = now_ns();
    block(f, target, calls);
    return (now_ns() - begin) / calls;
}

/* Overwrites the processor's caches, as a program does when it computes between its calls. */
static void evict(void)
{
    static volatile char other[EVICTED_BYTES];
    for (size_t i = 0; i < sizeof other; i += CACHE_LINE)
        other[i]++;
}

static double cold_ns(block_fn *block, const struct functions *f, const struct target *target)
{
    evict();
    return block_ns(block, f, target, 1);
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double median(const double *sorted, int count)
{
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

/* Returns the distance in places from the middle of `count` sorted values to each end of the 95 % interval of
 * their median: 1.96 sqrt(count) / 2, rounded up. */
static int reach(int count)
{
    int root = 0;
    while (root * root < count)
        root++;
    int steps = (98 * root + 99) / 100;
    return steps < count / 2 ? steps : (count - 1) / 2;
}

/* Measures a function in blocks of `calls` calls or, if `calls` is 0, in single calls with cold caches. */
static void bench(const char *name, block_fn *block, int calls, const struct functions *way[2],
                  const struct target *target, int pairs)
{
    static double direct[MAX_PAIRS], extra[MAX_PAIRS];
    for (int i = 0; i < pairs; i++) {
        double ns[2];
        for (int turn = 0; turn < 2; turn++) {
            int which = (i + turn) & 1;
            ns[which] =
                calls ? block_ns(block, way[which], target, calls) : cold_ns(block, way[which], target);
        }
        direct[i] = ns[0];
        extra[i] = ns[1] - ns[0];
    }
    qsort(direct, (size_t)pairs, sizeof *direct, compare);
    qsort(extra, (size_t)pairs, sizeof *extra, compare);
    printf("%s\t%.1f\t%.1f\t%.1f\t%.1f\n", name, median(direct, pairs), median(extra, pairs),
           extra[(pairs - 1) / 2 - reach(pairs)], extra[pairs / 2 + reach(pairs)]);
}

static void *symbol(const char *name)
{
    static void *libc;
    if (!libc)
        libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    void *found = libc ? dlsym(libc, name) : NULL;
    need(found != NULL, name);
    return found;
}

static void bench_calls(const char *path, int pairs)
{
    const struct functions wrapped = {pwrite, pread, write, open, close, fwrite};
    const struct functions direct = {symbol("pwrite"), symbol("pread"), symbol("write"),
                                     symbol("open"),   symbol("close"), symbol("fwrite")};
    const struct functions *way[2] = {&direct, &wrapped};
    const struct target target = {path, open(path, O_CREAT | O_RDWR, 0600), fopen(path, "r+")};
    need(target.fd >= 0 && target.stream, path);
    bench("pwrite", block_pwrite, BLOCK, way, &target, pairs);
    bench("pread", block_pread, BLOCK, way, &target, pairs);
    bench("write", block_write, BLOCK, way, &target, pairs);
    bench("fwrite", block_fwrite, BLOCK, way, &target, pairs);
    bench("open and close", block_open, BLOCK / 10, way, &target, pairs);
    pairs = pairs < COLD_PAIRS ? pairs : COLD_PAIRS;
    bench("pwrite, cold caches", block_pwrite, 0, way, &target, pairs);
    bench("fwrite, cold caches", block_fwrite, 0, way, &target, pairs);
    bench("open and close, cold caches", block_open, 0, way, &target, pairs);
    fclose(target.stream);
    close(target.fd);
    unlink(path);
}

static void *write_own_file(void *path)
{
    const struct functions wrapped = {.pwrite = pwrite};
    const struct target target = {.path = path, .fd = open(path, O_CREAT | O_RDWR, 0600)};
    double *best = malloc(sizeof *best);
    need(target.fd >= 0 && best, path);
    *best = 1e30;
    for (int i = 0; i < THREAD_BLOCKS; i++) {
        double ns = block_ns(block_pwrite, &wrapped, &target, BLOCK);
        *best = ns < *best ? ns : *best;
    }
    close(target.fd);
    unlink(path);
    return best;
}

static void bench_threads(const char *file, int threads)
{
    static char path[MAX_THREADS][PATH_BYTES];
    pthread_t thread[MAX_THREADS];
    for (int i = 0; i < threads; i++) {
        snprintf(path[i], sizeof path[i], "%s.%d", file, i);
        need(pthread_create(&thread[i], NULL, write_own_file, path[i]) == 0, "pthread_create");
    }
    double sum = 0;
    for (int i = 0; i < threads; i++) {
        void *best;
        pthread_join(thread[i], &best);
        sum += *(double *)best;
        free(best);
    }
    printf("%.1f\n", sum / threads);
}

/* Returns the largest resident memory since exec. */
static long peak_kib(void)
{
    char line[256];
    long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        sscanf(line, "VmHWM: %ld", &kib);
    if (status)
        fclose(status);
    return kib;
}

static void bench_files(const char *folder, int files)
{
    for (int i = 0; i < files; i++) {
        char path[PATH_BYTES];
        snprintf(path, sizeof path, "%s/%d", folder, i);
        int fd = open(path, O_CREAT | O_WRONLY, 0600);
        need(fd >= 0 && write(fd, path, BYTES) == BYTES && close(fd) == 0, path);
        unlink(path);
    }
    printf("%.9f\t%ld\n", read_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9, peak_kib());
}

/* Returns the number in `text`; 0 if `text` is not a whole number above 0. */
static int above_zero(const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);
    return *end == '\0' && number > 0 && number <= INT_MAX ? (int)number : 0;
}

int main(int count, char **argument)
{
    const char *what = count == 4 ? argument[1] : "";
    int number = count == 4 ? above_zero(argument[3]) : 0;
    if (strcmp(what, "calls") == 0 && number > 0 && number <= MAX_PAIRS)
        bench_calls(argument[2], number);
    else if (strcmp(what, "threads") == 0 && number > 0 && number <= MAX_THREADS)
        bench_threads(argument[2], number);
    else if (strcmp(what, "files") == 0 && number > 0)
        bench_files(argument[2], number);
    else {
        fprintf(stderr, "usage: iolens-selfbench calls FILE N | threads FILE N | files DIR N\n");
        return 2;
    }
    return 0;
}
