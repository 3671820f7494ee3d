/* Gives damaged spools to the code that makes logs of them: the result must be a log or a refusal, within
 * limits of time and memory.
 *
 *   fuzz-recover [-n COUNT] [-s FIRST] FOLDER SPOOL...
 *
 * Number FIRST + i makes the i-th damage; FOLDER, in memory, holds the spool and the log. All work runs in a
 * child process that is replaced after every BLOCK spools, because the recovery never returns memory to the
 * system. Half of the spools are treated as jobs of their own, half as one of three ranks with equal spools.
 * The program is built with the sanitizers; a fault that they find ends the process, and its number is
 * printed. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../profiler/src/ranks/serial.h"
#include "../../profiler/src/runtime/context.h"
#include "damage.h"
#include "../../profiler/src/lifecycle/lifecycle.h"
#include "../../profiler/src/recover/recover.h"

enum {
    BLOCK = 1000,
    BLOCK_SECONDS = 30,
    MOST_FAILURES = 20,
    MOST_MIB = 2048,
    RANKS = 3,
    TOO_MUCH_MEMORY = 78
};

struct fuzz {
    struct seed *seed;
    unsigned char **work; /* A damaged copy of each seed, mapped from a file. */
    char (*path)[PATH_BYTES];
    char log[PATH_BYTES];
    size_t seeds;
    uint64_t first, count;
    volatile uint64_t *at; /* Number of the spool on which the child works. */
    /* Numbers of logs made and of spools refused so far; all in shared memory. */
    volatile uint64_t *made, *refused;
};

__attribute__((visibility("default"))) const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__ubsan_default_options(void);
const char *__asan_default_options(void) { return "exitcode=77:detect_leaks=0:allocator_may_return_null=1"; }
const char *__ubsan_default_options(void) { return "print_stacktrace=1:halt_on_error=1:exitcode=77"; }

/* Stands in for MPI's reduction over three ranks that all have this rank's values. */
static int mirror_allreduce(void *buffer, size_t count, enum iolens_type type, enum iolens_op op)
{
    for (size_t i = 0; op == IOLENS_SUM && i < count; i++) {
        if (type == IOLENS_INT64)
            ((int64_t *)buffer)[i] *= RANKS;
        else if (type == IOLENS_DOUBLE)
            ((double *)buffer)[i] *= RANKS;
    }
    return 0;
}

static int mirror_gather(const void *send, size_t bytes, void *receive)
{
    for (int rank = 0; rank < RANKS; rank++)
        memcpy((char *)receive + (size_t)rank * bytes, send, bytes);
    return 0;
}

static int mirror_reduce(void *records, size_t record_bytes, size_t count, iolens_combine_fn *combine)
{
    char *lower = malloc(record_bytes * count + 1);
    memcpy(lower, records, record_bytes * count);
    for (int rank = 1; rank < RANKS; rank++)
        for (size_t i = 0; i < count; i++)
            combine(lower + i * record_bytes, (char *)records + i * record_bytes);
    free(lower);
    return 0;
}

static void recover(const char *spool, const char *log, bool mirrored)
{
    static struct iolens_transport mirror;
    char written[PATH_BYTES];
    mirror = serial_transport;
    mirror.size = RANKS;
    mirror.allreduce = mirror_allreduce;
    mirror.gather = mirror_gather;
    mirror.reduce_records = mirror_reduce;
    iolens = (struct context){.lost = "It was fuzzed."};
    if (!load_spool(spool, false))
        return;
    iolens.settings.logfile = log;
    iolens.fork_parent = 0;
    iolens.transport = mirrored ? &mirror : &serial_transport;
    finish_log(iolens.transport, written);
}

/* Unmaps the area at the address that the spool names, if the address is that of a page. */
static void give_back(const unsigned char *work, size_t size)
{
    const struct spool_header *header = (const struct spool_header *)work;
    if (header->base % 4096 == 0)
        munmap((void *)header->base, (size + 4095) & ~(size_t)4095);
}

static void attempt(const struct fuzz *fuzz, uint64_t number)
{
    struct rusage usage;
    size_t which = number % fuzz->seeds;
    const struct seed *seed = &fuzz->seed[which];
    unsigned char *work = fuzz->work[which];
    size_t size = damage(work, seed, number);
    if (size < seed->size && truncate(fuzz->path[which], (off_t)size) != 0)
        exit(1);
    unlink(fuzz->log);
    recover(fuzz->path[which], fuzz->log, number / fuzz->seeds % 2);
    ++*(access(fuzz->log, F_OK) == 0 ? fuzz->made : fuzz->refused);
    if (size < seed->size && truncate(fuzz->path[which], (off_t)seed->size) != 0)
        exit(1);
    give_back(work, seed->size);
    memcpy(work, seed->bytes, seed->size);
    getrusage(RUSAGE_SELF, &usage);
    if (usage.ru_maxrss > MOST_MIB * 1024L)
        _exit(TOO_MUCH_MEMORY);
}

/* Runs a block of attempts in a process of its own. Returns the number of the next attempt, which is inside
 * the block if an attempt ended the process. */
static uint64_t run_block(const struct fuzz *fuzz, uint64_t first, uint64_t end, int *failures)
{
    const struct itimerval limit = {.it_value.tv_sec = BLOCK_SECONDS};
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        setitimer(ITIMER_PROF, &limit, NULL);
        for (uint64_t number = first; number < end; number++) {
            *fuzz->at = number;
            attempt(fuzz, number);
        }
        _exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        exit(1);
    if (status == 0)
        return end;
    ++*failures;
    printf("number %llu: %s %d (%s)\n", (unsigned long long)*fuzz->at,
           WIFSIGNALED(status) ? "signal" : "exit code",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
           fuzz->seed[*fuzz->at % fuzz->seeds].path);
    fflush(stdout);
    for (size_t i = 0; i < fuzz->seeds; i++) {
        if (truncate(fuzz->path[i], (off_t)fuzz->seed[i].size) != 0)
            exit(1);
        memcpy(fuzz->work[i], fuzz->seed[i].bytes, fuzz->seed[i].size);
    }
    return *fuzz->at + 1;
}

static void read_seed(struct fuzz *fuzz, size_t index, const char *spool, const char *folder)
{
    struct stat info;
    struct seed *seed = &fuzz->seed[index];
    int fd = open(spool, O_RDONLY);
    if (fd < 0 || fstat(fd, &info) != 0) {
        perror(spool);
        exit(1);
    }
    *seed = (struct seed){.path = spool, .size = (size_t)info.st_size, .bytes = malloc((size_t)info.st_size)};
    seed->used = malloc(seed->size);
    if (!seed->bytes || !seed->used || read(fd, seed->bytes, seed->size) != (ssize_t)seed->size)
        exit(1);
    close(fd);
    for (size_t at = 0; at + 8 <= seed->size; at += 8)
        if (*(const uint64_t *)(seed->bytes + at) != 0)
            seed->used[seed->used_count++] = at;
    snprintf(fuzz->path[index], PATH_BYTES, "%s/%zu.spool", folder, index);
    int copy = open(fuzz->path[index], O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (copy < 0 || write(copy, seed->bytes, seed->size) != (ssize_t)seed->size)
        exit(1);
    fuzz->work[index] = mmap(NULL, seed->size, PROT_READ | PROT_WRITE, MAP_SHARED, copy, 0);
    close(copy);
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int run(const struct fuzz *fuzz)
{
    int failures = 0;
    double begin = seconds_now();
    uint64_t number = fuzz->first, end = fuzz->first + fuzz->count;
    while (number < end && failures < MOST_FAILURES)
        number = run_block(fuzz, number, number + BLOCK < end ? number + BLOCK : end, &failures);
    printf("%llu damaged spools in %.0f s: %llu logs made, %llu refused, %d failures\n",
           (unsigned long long)(number - fuzz->first), seconds_now() - begin, (unsigned long long)*fuzz->made,
           (unsigned long long)*fuzz->refused, failures);
    return failures > 0;
}

int main(int argc, char **argv)
{
    struct fuzz fuzz = {.count = 10000};
    int option;
    while ((option = getopt(argc, argv, "n:s:")) != -1)
        *(option == 'n' ? &fuzz.count : &fuzz.first) = strtoull(optarg, NULL, 10);
    if (argc - optind < 2) {
        fputs("usage: fuzz-recover [-n COUNT] [-s FIRST] FOLDER SPOOL...\n", stderr);
        return 2;
    }
    const char *folder = argv[optind];
    fuzz.seeds = (size_t)(argc - optind - 1);
    fuzz.seed = calloc(fuzz.seeds, sizeof *fuzz.seed);
    fuzz.work = calloc(fuzz.seeds, sizeof *fuzz.work);
    fuzz.path = calloc(fuzz.seeds, sizeof *fuzz.path);
    fuzz.at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    fuzz.made = fuzz.at + 1;
    fuzz.refused = fuzz.at + 2;
    snprintf(fuzz.log, sizeof fuzz.log, "%s/log", folder);
    for (size_t i = 0; i < fuzz.seeds; i++)
        read_seed(&fuzz, i, argv[optind + 1 + (int)i], folder);
    return run(&fuzz);
}
