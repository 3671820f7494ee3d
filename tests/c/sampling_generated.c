/* Generates machine code while it runs, as compilers of scripts do, and writes a file with its names for
 * profilers: two functions that call `busy`, the first for 70 % of the time. Prints its process number, then
 * the seconds of both functions. The argument chooses the file of names: it is kept, or the profiler must
 * ignore it because it is a link, a pipe, another user's or older than the process. With `killed` the process
 * ends before it writes its log; with `child` a child of fork calls the functions. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 64, EMPTY_LINES = 20000, MAPPED = 1 << 20 };

#if defined(__x86_64__)
/* Machine code of the generated functions on x86-64: sub $8,%rsp; call *%rdi; add $8,%rsp; ret */
static const unsigned char CODE[] = {0x48, 0x83, 0xec, 8, 0xff, 0xd7, 0x48, 0x83, 0xc4, 8, 0xc3};
#else
/* Machine code of the generated functions on AArch64: stp x29,x30,[sp,-16]!; mov x29,sp; blr x0; ldp
 * x29,x30,[sp],16; ret */
static const unsigned CODE[] = {0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0};
#endif

static double span;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

static void busy(void)
{
    volatile double sum = 0;
    double begin = now();
    while (now() < begin + span)
        for (int i = 0; i < 1000; i++)
            sum += i;
    span = now() - begin;
}

/* Writes the names, with earlier names of the same addresses, invalid lines, a name that is too long, and a
 * line that is cut off. */
static void name(FILE *map, const char *code)
{
    fprintf(map, "%lx %x earlier\n", (long)code, 2 * ROOM);
    fprintf(map, "\n \nnothing\n0x 10 prefix\n%lx\n%lx 10\n%lx 0 nobody\n-1 10 sign\n", (long)code,
            (long)code, (long)code);
    fprintf(map, "ffffffffffffffff ffffffffffffffff everywhere\n%lx0123456789 10 wide\n", (long)code);
    for (int i = 0; i < EMPTY_LINES; i++)
        fprintf(map, "%x 10 far away\n", 16 * i);
    fprintf(map, "%lX %zX py::Solver.seventy:/some where/app.py\n", (long)code, sizeof CODE);
    /* Java's agents write the number base in front and several blanks between. */
    fprintf(map, "0x%016lx  0x%zx JS:*thirty %0300d\n%lx %zx cut o", (long)(code + ROOM), sizeof CODE, 0,
            (long)code, sizeof CODE);
}

static void spoil(const char *how, const char *path)
{
    char other[ROOM];
    snprintf(other, sizeof other, "%s.other", path);
    if (strcmp(how, "link") == 0 && (rename(path, other) != 0 || symlink(other, path) != 0))
        abort();
    if (strcmp(how, "pipe") == 0 && (unlink(path) != 0 || mkfifo(path, 0600) != 0))
        abort();
    if (strcmp(how, "other") == 0 && chown(path, 1, 1) != 0)
        abort();
    if (strcmp(how, "older") == 0 && utimensat(AT_FDCWD, path, (struct timespec[2]){{1}, {1}}, 0) != 0)
        abort();
}

int main(int argc, char **argv)
{
    /* A single page may fall into a gap between the parts of a library, and would count as that library's. */
    char path[ROOM], *code = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    double total = atof(argv[2]);
    memcpy(code, CODE, sizeof CODE);
    memcpy(code + ROOM, CODE, sizeof CODE);
    mprotect(code, 4096, PROT_READ | PROT_EXEC);
    __builtin___clear_cache(code, code + 4096);
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    unlink(path);
    FILE *map = fopen(path, "w");
    name(map, code);
    fclose(map);
    spoil(argv[1], path);
    printf("%d\n", (int)getpid());
    fflush(stdout);
    if (strcmp(argv[1], "child") == 0 && fork() > 0)
        return wait(NULL) < 0;
    span = 0.7 * total;
    ((void (*)(void (*)(void)))code)(busy);
    printf("%.6f\n", span);
    span = 0.3 * total;
    ((void (*)(void (*)(void)))(code + ROOM))(busy);
    printf("%.6f\n", span);
    fflush(stdout);
    if (strcmp(argv[1], "killed") == 0)
        abort();
    return 0;
}
