/* Writes in one process or more; the argument says how the writing process ends or starts another one. The
 * child of fork continues with its parent's descriptor; each process has a log of its own. exit | _exit |
 * _Exit | fork | vfork | vfork_fails | thread_exit | stderr_closed | clone_by_number | clone3_by_number |
 * clone | _Fork. The last four make a child without calling fork's handlers, which has no log. */
#include "posix_expect.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static char data[100] __attribute__((aligned(8)));

/* Prints the expected counters of a write of 100 bytes that ends at `end`, on a file that this process opened
 * `opens` times: 0 if it inherited the descriptor. */
static void expect_write(const char *name, int opens, long long end)
{
    expect_posix_file(name);
    if (opens) {
        EXPECT("POSIX_OPENS", opens);
        EXPECT("POSIX_MODE", 0600);
    }
    EXPECT("POSIX_WRITES", 1);
    EXPECT("POSIX_BYTES_WRITTEN", 100);
    EXPECT("POSIX_MAX_BYTE_WRITTEN", end - 1);
    EXPECT("POSIX_SIZE_WRITE_0_100", 1);
    EXPECT("POSIX_ACCESS1_ACCESS", 100);
    EXPECT("POSIX_ACCESS1_COUNT", 1);
    EXPECT("POSIX_MAX_WRITE_TIME_SIZE", 100);
}

static void by_fork(int fd)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        MUST(write(fd, data, 100) == 100);
        dprintf(1, "PROCESS %d\n", (int)getpid());
        expect_write("fork.dat", 0, 200);
        EXPECT("POSIX_SEQ_WRITES", 1); /* The child's write at position 100 is sequential, but not
                                        * consecutive: its log lacks byte 99. */
        EXPECT("POSIX_FILE_NOT_ALIGNED", 1);
        _exit(7);
    }
    MUST(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

/* Closes a descriptor in a child of vfork; it must stay open in the parent. */
static void by_vfork(int fd)
{
    int status;
    pid_t child = vfork();
    if (child == 0) {
        close(fd);
        close(open("of_the_child", O_CREAT | O_WRONLY, 0600));
        execl("/bin/true", "true", (char *)NULL);
        _exit(127);
    }
    MUST(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Calls vfork where it must fail. The limit of processes does not apply to root, so the test acts as another
 * user meanwhile. */
static void by_no_vfork(void)
{
    struct rlimit none = {0, 0};
    bool root = geteuid() == 0;
    MUST(!root || setresuid(65534, 65534, 0) == 0);
    MUST(setrlimit(RLIMIT_NPROC, &none) == 0);
    pid_t child = vfork();
    if (child == 0)
        _exit(127);
    MUST(child == -1 && errno == EAGAIN);
    MUST(!root || setresuid(0, 0, 0) == 0);
}

/* Opens so many files that the parent's spool would have to grow, in a child that the profiler does not know.
 */
static int unheard(void *nothing)
{
    char name[32];
    (void)nothing;
    for (int i = 0; i < 3000; i++) {
        snprintf(name, sizeof name, "unheard.%d", i);
        int fd = open(name, O_CREAT | O_RDWR, 0600);
        MUST(fd >= 0 && write(fd, data, 100) == 100 && close(fd) == 0 && unlink(name) == 0);
    }
    return 7;
}

static void by_clone(const char *how)
{
    static char stack[1 << 18] __attribute__((aligned(16)));
    static long long arguments[8] = {[4] = SIGCHLD};
    pid_t (*without_handlers)(void) = NULL;
    int status;
    pid_t child = -1;
    *(void **)&without_handlers =
        dlsym(RTLD_DEFAULT, "_Fork"); /* The function _Fork exists only since glibc 2.34. */
    if (strcmp(how, "clone") == 0)
        child = clone(unheard, stack + sizeof stack, SIGCHLD, NULL);
    else if (strcmp(how, "clone3_by_number") == 0)
        child = (pid_t)syscall(SYS_clone3, arguments, sizeof arguments);
    else if (strcmp(how, "_Fork") == 0 && without_handlers)
        child = without_handlers();
    else
        child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0)
        exit(unheard(NULL));
    MUST(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static void *leave(void *status) { exit((int)(long)status); }

int main(int count, char **argument)
{
    const char *how = count > 1 ? argument[1] : "exit";
    int fd = open("fork.dat", O_CREAT | O_RDWR, 0600);
    if (strcmp(how, "vfork") == 0)
        by_vfork(fd);
    if (strcmp(how, "vfork_fails") == 0)
        by_no_vfork();
    MUST(write(fd, data, 100) == 100);
    if (strcmp(how, "fork") == 0)
        by_fork(fd);
    if (strstr(how, "clone") || strcmp(how, "_Fork") == 0)
        by_clone(how);
    dprintf(1, "PROCESS %d\n", (int)getpid());
    expect_write("fork.dat", 1, 100);
    if (strcmp(how, "stderr_closed") == 0) {
        /* Another file gets the number of standard error, so that the profiler must not write its message
         * there. */
        MUST(close(2) == 0 && open("not_stderr", O_CREAT | O_RDWR, 0600) == 2);
    } else if (strcmp(how, "_exit") == 0) {
        _exit(3);
    } else if (strcmp(how, "_Exit") == 0) {
        _Exit(3);
    } else if (strcmp(how, "thread_exit") == 0) {
        pthread_t thread;
        MUST(pthread_create(&thread, NULL, leave, (void *)3L) == 0);
        pthread_join(thread, NULL);
    }
    return 3;
}
