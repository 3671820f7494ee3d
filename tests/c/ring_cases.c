/* Makes one use of a ring that is hard for a profiler to follow; the first argument names it. Prints bytes
 * read and number of reads. */
#include "posix_expect.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "raw_ring.h"

enum { PIECE = 512, MANY = 200 };

static struct raw_ring ring;
static char data[MANY][PIECE];
static int fd;
static int64_t bytes, reads;

static void prepare(unsigned i, uint64_t key)
{
    raw_ring_prepare(&ring, IORING_OP_READ, fd, data[i], 1 + i % PIECE, (int64_t)i * 7, key);
}

static void count(const struct io_uring_cqe *done)
{
    MUST(done->res >= 0);
    bytes += done->res;
    reads++;
}

static void take_all(int64_t until)
{
    struct io_uring_cqe done;
    while (reads < until)
        if (raw_ring_take(&ring, &done))
            count(&done);
        else
            sched_yield();
}

static void *reap(void *until)
{
    struct io_uring_cqe done;
    while (reads < (int64_t)(intptr_t)until) {
        MUST(syscall(SYS_io_uring_enter, (long)ring.fd, 0L, 1L, (long)IORING_ENTER_GETEVENTS, NULL, 0L) == 0);
        while (raw_ring_take(&ring, &done))
            count(&done);
    }
    return NULL;
}

/* Submits in one thread, and takes the completions in another one. */
static void by_two_threads(void)
{
    pthread_t reaper;
    MUST(pthread_create(&reaper, NULL, reap, (void *)(intptr_t)MANY) == 0);
    for (unsigned i = 0; i < MANY; i++) {
        prepare(i, i);
        MUST(raw_ring_enter(&ring, 1, 0) == 1);
    }
    MUST(pthread_join(reaper, NULL) == 0);
}

static pthread_mutex_t preparing = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int64_t prepared, done_reads;

enum { THREADS = 3 };
static atomic_bool entering[THREADS]; /* True while a thread is in this system call, or in a profiler's code
                                       * around it. */
static _Thread_local int own_number;

/* Prepares a read into as many pieces as Linux allows, so that a profiler takes long to look at all of
 * them. */
static void prepare_pieces(uint64_t key)
{
    static char letters[IOV_MAX];
    static struct iovec pieces[IOV_MAX];
    for (int i = 0; i < IOV_MAX; i++)
        pieces[i] = (struct iovec){&letters[i], 1};
    raw_ring_prepare(&ring, IORING_OP_READV, fd, pieces, IOV_MAX, 0, key);
}

/* Keeps a thread in its system call until other threads have completed more requests than the ring has room
 * for. The thread gives up after a while, because the others may need a lock that it holds. */
static void hold(int signal)
{
    struct timespec pause = {.tv_nsec = 200000};
    int64_t enough = done_reads + 2 * (int64_t)ring.params.cq_entries;
    (void)signal;
    for (int i = 0; entering[own_number] && i < 50 && done_reads < enough; i++)
        nanosleep(&pause, NULL);
}

static void *submit_some(void *number)
{
    own_number = (int)(intptr_t)number % THREADS;
    bool in_pieces = (intptr_t)number >= THREADS;
    for (unsigned i = 0; i < MANY; i++) {
        MUST(pthread_mutex_lock(&preparing) == 0);
        while (prepared - done_reads >= ring.params.sq_entries)
            sched_yield();
        uint64_t key = (uint64_t)prepared++;
        if (in_pieces)
            prepare_pieces(key);
        else
            prepare(i, key);
        atomic_store_explicit(ring.tail_in, ring.tail, memory_order_release);
        MUST(pthread_mutex_unlock(&preparing) == 0);
        entering[own_number] = true;
        MUST(syscall(SYS_io_uring_enter, (long)ring.fd, 1L, 0L, 0L, NULL, 0L) >= 0);
        entering[own_number] = false;
    }
    return NULL;
}

/* Lets three threads submit requests at once, so that one thread may submit the requests of another; this
 * thread looks for completions without waiting. If `held`, a profiler takes long to look at each request, and
 * threads are stopped now and then, mostly while a profiler looks. */
static void by_all_at_once(bool held)
{
    enum { BETWEEN = 10 };
    pthread_t thread[THREADS];
    struct io_uring_cqe done;
    int64_t next = held ? 0 : INT64_MAX;
    MUST(sigaction(SIGUSR1, &(struct sigaction){.sa_handler = hold, .sa_flags = SA_RESTART}, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        MUST(pthread_create(&thread[i], NULL, submit_some, (void *)(intptr_t)(held ? THREADS + i : i)) == 0);
    while (reads < THREADS * MANY) {
        syscall(SYS_io_uring_enter, (long)ring.fd, 0L, 0L, (long)IORING_ENTER_GETEVENTS, NULL, 0L);
        for (; raw_ring_take(&ring, &done); done_reads = reads)
            count(&done);
        for (int i = 0; i < THREADS; i++)
            if (entering[i] && done_reads >= next) {
                pthread_kill(thread[i], SIGUSR1);
                next = done_reads + BETWEEN;
            }
    }
    for (int i = 0; i < THREADS; i++)
        MUST(pthread_join(thread[i], NULL) == 0);
}

/* Submits eight requests that all have the same key. */
static void by_one_key(void)
{
    for (unsigned i = 0; i < 8; i++)
        prepare(i, 1);
    MUST(raw_ring_enter(&ring, 8, 8) == 8);
    take_all(8);
}

/* Opens a file into the ring's table of files and reads it there, in one chain. After the completions were
 * taken, and before any other call on the ring, it changes the table. */
static void by_changed_table(void)
{
    int none = -1;
    struct io_uring_files_update update = {.fds = (uintptr_t)&none};
    MUST(syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_FILES, &none, 1L) == 0);
    for (unsigned i = 0; i < MANY; i++) {
        struct io_uring_sqe *request =
            raw_ring_prepare(&ring, IORING_OP_OPENAT, AT_FDCWD, "case.dat", 0, 0, i);
        request->file_index = 1;
        request->flags |= IOSQE_IO_LINK | IOSQE_ASYNC;
        raw_ring_prepare(&ring, IORING_OP_READ, 0, data[i], 1 + i % PIECE, 0, i)->flags |= IOSQE_FIXED_FILE;
        MUST(raw_ring_enter(&ring, 2, 0) == 2);
        take_all(i + 2);
        reads--; /* One of the completed requests was an open and not a read. */
        MUST(syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_FILES_UPDATE, &update, 1L) == 1);
    }
}

/* Uses a ring whose requests a kernel thread takes without a call, unless it sleeps. */
static void by_kernel(void)
{
    for (unsigned i = 0; i < MANY; i++) {
        prepare(i, i);
        atomic_store_explicit(ring.tail_in, ring.tail, memory_order_release);
        if (i % 4 == 3) {
            MUST(syscall(SYS_io_uring_enter, (long)ring.fd, 0L, 4L,
                         (long)(IORING_ENTER_SQ_WAKEUP | IORING_ENTER_GETEVENTS), NULL, 0L) >= 0);
            take_all(i + 1);
        }
    }
}

/* Uses a ring whose requests a kernel thread takes, and calls so seldom that requests and completions are
 * overwritten before the profiler can see them. */
static void by_kernel_unnoticed(void)
{
    enum { EACH = 20 };
    const _Atomic unsigned *flags =
        (void *)((char *)ring.head_in - ring.params.sq_off.head + ring.params.sq_off.flags);
    MUST(syscall(SYS_io_uring_enter, (long)ring.fd, 0L, 0L, (long)IORING_ENTER_SQ_WAKEUP, NULL, 0L) >= 0);
    while (*flags & IORING_SQ_NEED_WAKEUP)
        sched_yield();
    for (unsigned i = 0; i < MANY; i++) {
        prepare(i, i);
        atomic_store_explicit(ring.tail_in, ring.tail, memory_order_release);
        MUST(!(*flags & IORING_SQ_NEED_WAKEUP));
        take_all(i + 1);
        if (i % EACH == EACH - 1)
            MUST(syscall(SYS_io_uring_enter, (long)ring.fd, 0L, 0L, (long)IORING_ENTER_GETEVENTS, NULL, 0L) >=
                 0);
    }
}

/* Makes the system call by an instruction in the program, without the C library. */
static void unseen(void)
{
#if defined(__x86_64__)
    for (unsigned i = 0; i < MANY; i++) {
        long number = SYS_io_uring_enter;
        prepare(i, i);
        atomic_store_explicit(ring.tail_in, ring.tail, memory_order_release);
        register long flags __asm__("r10") = IORING_ENTER_GETEVENTS;
        register long none __asm__("r8") = 0, size __asm__("r9") = 0;
        __asm__ volatile("syscall"
                         : "+a"(number)
                         : "D"((long)ring.fd), "S"(1L), "d"(1L), "r"(flags), "r"(none), "r"(size)
                         : "rcx", "r11", "memory");
        MUST(number == 1);
        take_all(i + 1);
    }
#endif
}

/* Makes a ring in a child of fork; the parent's ring must continue to work. */
static void in_child(void)
{
    pid_t child;
    prepare(0, 0);
    MUST(raw_ring_enter(&ring, 1, 1) == 1);
    take_all(1);
    if ((child = fork()) == 0) {
        MUST(raw_ring_open(&ring, 8, 0));
        prepare(99, 0);
        MUST(raw_ring_enter(&ring, 1, 1) == 1);
        _exit(0);
    }
    MUST(waitpid(child, NULL, 0) == child);
    prepare(1, 0);
    MUST(raw_ring_enter(&ring, 1, 1) == 1);
    take_all(2);
}

/* Returns how many mappings of rings the process has. */
static int mappings(void)
{
    char line[512];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        found += strstr(line, "io_uring") != NULL;
    fclose(maps);
    return found;
}

int main(int arguments, char **argument)
{
    const char *way = arguments > 1 ? argument[1] : "";
    if (!raw_ring_open(&ring, 8, strncmp(way, "kernel", 6) == 0 ? IORING_SETUP_SQPOLL : 0))
        return 0;
    MUST((fd = open("case.dat", O_CREAT | O_RDWR, 0600)) >= 0 && ftruncate(fd, 1 << 20) == 0);
    if (strcmp(way, "threads") == 0)
        by_two_threads();
    else if (strcmp(way, "shared") == 0 || strcmp(way, "held") == 0)
        by_all_at_once(way[0] == 'h');
    else if (strcmp(way, "key") == 0)
        by_one_key();
    else if (strcmp(way, "table") == 0)
        by_changed_table();
    else if (strcmp(way, "kernel") == 0)
        by_kernel();
    else if (strcmp(way, "kernel_unnoticed") == 0)
        by_kernel_unnoticed();
    else if (strcmp(way, "unseen") == 0)
        unseen();
    else if (strcmp(way, "child") == 0)
        in_child();
    int own = mappings();
    MUST(close(ring.fd) == 0);
    dprintf(1, "%ld %ld\n", (long)bytes, (long)reads);
    MUST(own >= 2 && mappings() == 2); /* The program's own two mappings of the ring remain. */
    return 0;
}
