/* harm_mapped KIND: uses of mapped files that few programs have. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harm_kinds.h"

enum { PAGE = 4096, PAGES = 16, BYTES = PAGES * PAGE, MANY = 3000, TURNS = 2000 };

static const char *reason(int failed) { return failed ? strerror(errno) : "done"; }

/* Returns a file whose page number i is full of the letter `first` + i. */
static int made(const char *name, char first)
{
    char page[PAGE];
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < PAGES; i++) {
        memset(page, first + i, sizeof page);
        (void)!write(fd, page, sizeof page);
    }
    return fd;
}

static char *map(int fd, int flags, void *place, int pages, int from)
{
    return mmap(place, (size_t)pages * PAGE, PROT_READ | PROT_WRITE, flags, fd, (off_t)from * PAGE);
}

/* Prints the first letter of each page of a mapping. */
static void show(const char *at, int pages)
{
    for (int i = 0; i < pages; i++)
        putchar(at[i * PAGE]);
    putchar('\n');
}

static int sparse(void)
{
    const size_t bytes = (size_t)1 << 40;
    int fd = open("sparse", O_RDWR | O_CREAT, 0600);
    printf("%s\n", reason(ftruncate(fd, (off_t)bytes)));
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    for (size_t i = 0; i < 64; i++)
        at[i * (bytes / 64)] = 'x';
    printf("%d %c\n", at[1], at[bytes / 64]);
    printf("%s\n", reason(munmap(at, bytes)));
    close(fd);
    return unlink("sparse");
}

static int replaced(void)
{
    int a = made("a", 'a'), b = made("b", 'A');
    char *at = map(a, MAP_SHARED, NULL, PAGES, 0);
    map(b, MAP_SHARED | MAP_FIXED, at + 4 * PAGE, 4, 0);
    map(-1, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, at + 8 * PAGE, 1, 0)[0] = '-';
    map(a, MAP_PRIVATE | MAP_FIXED, at + 9 * PAGE, 1, 15)[1] = 'x';
    show(at, PAGES);
    printf("%d\n", map(b, MAP_SHARED | MAP_FIXED_NOREPLACE, at, 1, 0) == MAP_FAILED);
    return munmap(at, BYTES);
}

static int moved(void)
{
    int a = made("a", 'a'), b = made("b", 'A');
    char *at = map(a, MAP_SHARED, NULL, PAGES, 0), *other = map(b, MAP_SHARED, NULL, PAGES, 0);
    char *twice = mremap(at, 0, 2 * PAGE, MREMAP_MAYMOVE);
    show(twice, 2);
    show(mremap(at, 8 * PAGE, 4 * PAGE, 0), 4);
    show(mremap(at + 8 * PAGE, 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, other + 2 * PAGE), 4);
    show(other, PAGES);
    show(mremap(other, PAGE, 2 * PAGES * PAGE, MREMAP_MAYMOVE), PAGES);
    printf("%s\n", reason(mremap(at, 5 * PAGE, BYTES, 0) == MAP_FAILED));
    return munmap(twice, 2 * PAGE);
}

static int in_parts(void)
{
    int a = made("a", 'a');
    char *at = map(a, MAP_SHARED, NULL, PAGES, 0);
    printf("%s ", reason(munmap(at + 1, PAGE)));
    printf("%s\n", reason(munmap(at + 3 * PAGE, PAGE)));
    show(at, 3);
    show(at + 4 * PAGE, PAGES - 4);
    printf("%s ", reason(msync(at, BYTES, MS_SYNC)));
    printf("%s\n", reason(madvise(at, BYTES, MADV_RANDOM)));
    return munmap(at, BYTES);
}

static int many(void)
{
    int a = made("a", 'a');
    char *at[MANY], sum = 0;
    for (int i = 0; i < MANY; i++)
        at[i] = map(a, i % 2 ? MAP_SHARED : MAP_PRIVATE, NULL, 1 + i % PAGES, 0);
    for (int i = 0; i < MANY; i++)
        sum = (char)(sum + at[i][0]);
    for (int i = 0; i < MANY; i += 2)
        munmap(at[i], (size_t)(1 + i % PAGES) * PAGE);
    printf("%d\n", sum);
    return 0;
}

static volatile sig_atomic_t handled, failed;

static void map_in_handler(int signal)
{
    int fd = open("a", O_RDWR), before = errno = 1000 + signal;
    char *at = map(fd, MAP_SHARED, NULL, PAGES, 0);
    failed |= at == MAP_FAILED || errno != before;
    msync(at, BYTES, MS_ASYNC);
    madvise(at, BYTES, MADV_RANDOM);
    munmap(at, BYTES);
    failed |= errno != before;
    close(fd);
    handled++;
}

static int in_handler(void)
{
    const struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
    int a = made("a", 'a');
    signal(SIGALRM, map_in_handler);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < TURNS || handled < 100; i++) {
        char *at = map(a, MAP_SHARED, NULL, PAGES, 0);
        at = mremap(at, BYTES, 2 * BYTES, MREMAP_MAYMOVE);
        failed |= at[PAGE] != 'b';
        munmap(at, 2 * BYTES);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%d\n", failed);
    return 0;
}

static sigjmp_buf back;

static void jump(int signal) { siglongjmp(back, signal); }

/* Reads a mapped page that lies beyond the end of its file after the file became shorter. */
static int cut(void)
{
    int a = made("a", 'a');
    char *at = map(a, MAP_SHARED, NULL, PAGES, 0);
    signal(SIGBUS, jump);
    printf("%d ", ftruncate(a, PAGE));
    if (sigsetjmp(back, 1) == 0)
        putchar(at[8 * PAGE]);
    else
        printf("bus\n");
    show(at, 1);
    return munmap(at, BYTES);
}

static int forked(void)
{
    int a = made("a", 'a'), status, sum = 0;
    char *at = map(a, MAP_SHARED, NULL, PAGES, 0), *own = map(a, MAP_PRIVATE, NULL, PAGES, 0);
    for (int i = 0; i < 4; i++)
        if (fork() == 0) {
            at[i * PAGE] = own[i * PAGE] = (char)('0' + i);
            munmap(i % 2 ? at : at + PAGE, i % 2 ? BYTES : PAGE);
            char *fresh = map(a, MAP_SHARED, NULL, PAGES, 0);
            fresh[(4 + i) * PAGE] = (char)('4' + i);
            i % 2 ? _exit(i) : exit(i);
        }
    while (wait(&status) > 0)
        sum += WEXITSTATUS(status);
    show(at, PAGES);
    show(own, PAGES);
    return sum + munmap(at, BYTES);
}

/* Maps files that are not regular files. */
static int odd_files(void)
{
    int zero = open("/dev/zero", O_RDWR), memory = memfd_create("m", 0), folder = open(".", O_RDONLY),
        pipes[2];
    char *at = map(zero, MAP_PRIVATE, NULL, 2, 0), *shared = map(zero, MAP_SHARED, NULL, 2, 0);
    at[PAGE] = 'z', shared[PAGE] = 'y';
    printf("%c%c %d\n", at[PAGE], shared[PAGE], at[0]);
    (void)!ftruncate(memory, BYTES);
    at = map(memory, MAP_SHARED, NULL, PAGES, 0), at[PAGE] = 'm';
    munmap(at, PAGE);
    putchar(at[PAGE]);
    printf("%d\n", munmap(at + PAGE, BYTES - PAGE));
    at = mmap(NULL, 2 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
    printf("%d\n", at == MAP_FAILED ? 0 : munmap(at, 2 << 20));
    (void)!pipe(pipes);
    for (int i = 0; i < 3; i++)
        printf("%s\n", reason(map((int[]){folder, pipes[0], 999}[i], MAP_SHARED, NULL, 1, 0) == MAP_FAILED));
    int self = open("/proc/self/exe", O_RDONLY);
    at = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, self, 0);
    printf("%.3s\n", at + 1);
    return munmap(at, PAGE);
}

/* Checks that a failed call sets the error of the kernel, and that a call that succeeds changes no errno. */
static int errors(void)
{
    int a = made("a", 'a'), read_only = open("a", O_RDONLY), write_only = open("a", O_WRONLY);
    printf("%s\n", reason(map(read_only, MAP_SHARED, NULL, 1, 0) == MAP_FAILED));
    printf("%s\n", reason(map(write_only, MAP_PRIVATE, NULL, 1, 0) == MAP_FAILED));
    printf("%s\n", reason(mmap(NULL, 0, PROT_READ, MAP_SHARED, a, 0) == MAP_FAILED));
    printf("%s\n", reason(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, a, 1) == MAP_FAILED));
    printf("%s\n", reason(mmap(NULL, PAGE, PROT_READ, 0, a, 0) == MAP_FAILED));
    printf("%s\n", reason(mmap(NULL, PAGE, PROT_READ, MAP_SHARED_VALIDATE | 0x40000000, a, 0) == MAP_FAILED));
    printf("%s\n", reason(mmap(NULL, SIZE_MAX - PAGE, PROT_READ, MAP_SHARED, a, 0) == MAP_FAILED));
    errno = 77;
    char *at = map(a, MAP_SHARED | MAP_POPULATE, NULL, PAGES, 0), *beyond = map(a, MAP_SHARED, NULL, 1, 99);
    madvise(at, BYTES, MADV_WILLNEED), msync(at, BYTES, MS_SYNC), mprotect(at, PAGE, PROT_NONE);
    munmap(at, 2 * PAGE), munmap(beyond, PAGE), munmap(at, BYTES);
    printf("%d\n", errno);
    printf("%s ", reason(msync(at, BYTES, MS_SYNC)));
    printf("%s ", reason(madvise(at, BYTES, 12345)));
    printf("%s\n", reason(munmap(at, 0)));
    return 0;
}

/* Unmaps a file while the profiler can get neither a descriptor nor memory. */
static int scarce(void)
{
    struct rlimit files, memory;
    int a = made("a", 'a');
    char *at = map(a, MAP_SHARED, NULL, PAGES, 0);
    getrlimit(RLIMIT_NOFILE, &files), getrlimit(RLIMIT_AS, &memory);
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, files.rlim_max});
    setrlimit(RLIMIT_AS, &(struct rlimit){0, memory.rlim_max});
    show(at, PAGES);
    printf("%d ", munmap(at, 2 * PAGE));
    printf("%s\n", reason(map(a, MAP_SHARED, NULL, 1, 0) == MAP_FAILED));
    setrlimit(RLIMIT_NOFILE, &files), setrlimit(RLIMIT_AS, &memory);
    return munmap(at, BYTES);
}

static int by_number(void)
{
    int a = made("a", 'a'), b = made("b", 'A');
    char *at = map(a, MAP_SHARED, NULL, PAGES, 0);
    syscall(SYS_munmap, at, BYTES);
    show(map(b, MAP_SHARED, at, PAGES, 0), PAGES);
    syscall(SYS_munmap, at, BYTES);
    return 0;
}

static void *map_often(void *word)
{
    long wrong = 0;
    int fd = open((const char *)word, O_RDWR);
    for (int i = 0; i < TURNS; i++) {
        char *at = map(fd, MAP_SHARED, NULL, PAGES, 0);
        wrong += at[PAGE] != 'b';
        at = mremap(at, BYTES, PAGE, 0);
        wrong += msync(at, PAGE, MS_ASYNC) + munmap(at, PAGE);
    }
    close(fd);
    return (void *)wrong;
}

static int in_threads(void)
{
    pthread_t thread[8];
    void *wrong;
    close(made("a", 'a')), close(made("b", 'a'));
    for (int i = 0; i < 8; i++)
        pthread_create(&thread[i], NULL, map_often, i % 2 ? "a" : "b");
    for (int i = 0; i < 8; i++)
        pthread_join(thread[i], &wrong), printf("%ld", (long)wrong);
    return 0;
}

/* Uses mapped files under a filter that would end the process at a system call that the profiler makes for
 * them. */
static int confined(void)
{
    const struct sock_filter ends[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mincore, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 451, 2, 0), /* cachestat */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrusage, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    const struct sock_fprog filter = {sizeof ends / sizeof *ends, (struct sock_filter *)ends};
    int a = made("a", 'a');
    char *at = map(a, MAP_SHARED, NULL, PAGES, 0);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    printf("%s\n", reason(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)));
    munmap(at, BYTES);
    show(map(a, MAP_SHARED, NULL, PAGES, 0), PAGES);
    return 0;
}

static const struct harm_kind KINDS[] = {
    {"sparse", sparse},
    {"replaced", replaced},
    {"moved", moved},
    {"in_parts", in_parts},
    {"many", many},
    {"in_handler", in_handler},
    {"cut", cut},
    {"forked", forked},
    {"odd_files", odd_files},
    {"errors", errors},
    {"scarce", scarce},
    {"by_number", by_number},
    {"in_threads", in_threads},
    {"confined", confined},
};

int main(int count, char **words)
{
    return run_kind(KINDS, sizeof KINDS / sizeof *KINDS, count > 1 ? words[1] : "");
}
