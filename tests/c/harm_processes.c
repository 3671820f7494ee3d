/* harm_processes KIND: processes and threads that are started, restricted and ended in unusual ways. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harm_kinds.h"

enum { STACK = 1 << 16, MANY = 200, CHAIN = 10 };

extern char **environ;
static char *own_name, *argument;

static void write_file(const char *name, const char *text)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_APPEND, 0600);
    (void)!write(fd, text, strlen(text));
    close(fd);
}

static int ended(pid_t child)
{
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Starts a chain of processes, in which each starts the next one by vfork and exec. */
static int vfork_chain(void)
{
    int left = argument ? atoi(argument) : CHAIN;
    if (left == 0)
        return 7;
    char number[8];
    snprintf(number, sizeof number, "%d", left - 1);
    pid_t child = vfork();
    if (child == 0) {
        execl("/proc/self/exe", own_name, "vfork_chain", number, (char *)NULL);
        _exit(127);
    }
    int code = ended(child);
    printf("%d:%d ", left, code);
    return code;
}

static int vfork_fails(void)
{
    for (int i = 0; i < 20; i++) {
        pid_t child = vfork();
        if (child == 0) {
            execl("/nowhere", "nowhere", (char *)NULL);
            _exit(errno);
        }
        printf("%d ", ended(child));
    }
    return 0;
}

static int run_clone(void *name)
{
    write_file(name, "cloned\n");
    return 6;
}

static int clone_with(int flags)
{
    static char stack[4][STACK] __attribute__((aligned(64)));
    for (int i = 0; i < 4; i++) {
        pid_t child = clone(run_clone, stack[i] + STACK, flags | SIGCHLD, "f");
        write_file("g", "parent\n");
        printf("%d ", ended(child));
    }
    return 0;
}
static int clone_vm(void) { return clone_with(CLONE_VM); }
static int clone_vm_files(void) { return clone_with(CLONE_VM | CLONE_FILES | CLONE_FS | CLONE_SIGHAND); }
static int clone_files(void) { return clone_with(CLONE_FILES); }
static int clone_raw(void)
{
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        write_file("f", "raw\n");
        exit(4);
    }
    printf("%d\n", ended(child));
    return 0;
}

/* Starts a daemon in the usual way: two forks, a session of its own, no descriptor of the caller, another
 * folder. */
static int daemon_twice(void)
{
    char folder[4096];
    int done[2];
    (void)!getcwd(folder, sizeof folder);
    (void)!pipe(done);
    pid_t first = fork();
    if (first == 0) {
        setsid();
        if (fork())
            _exit(0);
        umask(027);
        (void)!chdir("/");
        int kept = dup2(done[1], 900);
        syscall(SYS_close_range, 0, 899, 0);
        (void)!open("/dev/null", O_RDWR);
        (void)!dup(0), (void)!dup(0);
        (void)!chdir(folder);
        write_file("log", "started\n");
        (void)!write(kept, "x", 1);
        exit(0);
    }
    close(done[1]);
    ended(first);
    char byte = 0;
    (void)!read(done[0], &byte, 1);
    while (read(done[0], &byte, 1) > 0)
        ;
    return printf("%c\n", byte) < 0;
}

static int in_chroot(void)
{
    mkdir("root", 0700);
    if (chroot("root") || chdir("/"))
        return printf("%s\n", strerror(errno)), 1;
    write_file("f", "inside\n");
    FILE *stream = fopen("g", "w");
    fputs("stream\n", stream);
    fclose(stream);
    return printf("%d\n", access("/root", F_OK)) < 0;
}

static int unshared(void)
{
    if (unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS | CLONE_NEWIPC))
        return printf("%s\n", strerror(errno)), 1;
    pid_t child = fork();
    if (child == 0) {
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
        mkdir("m", 0700);
        if (mount("none", "m", "tmpfs", 0, NULL) == 0)
            write_file("m/f", "hidden\n");
        mount("none", "/dev/shm", "tmpfs", MS_RDONLY, NULL);
        mount("none", "/proc", "tmpfs", MS_RDONLY, NULL);
        write_file("f", "seen\n");
        printf("%d\n", getpid());
        exit(3);
    }
    return ended(child);
}

static int other_user(void)
{
    chmod(".", 0777);
    write_file("f", "root\n");
    if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
        return 1;
    write_file("g", "nobody\n");
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "id -u; echo x >h", (char *)NULL);
        _exit(127);
    }
    printf("%d %d\n", ended(child), (int)getuid());
    prctl(PR_SET_DUMPABLE, 0);
    write_file("i", "hidden\n");
    return 0;
}

/* Opens and writes files beyond the limits of the process. The limits are restored at the end, when a log may
 * be written. */
static int limits(void)
{
    struct rlimit files, bytes;
    getrlimit(RLIMIT_NOFILE, &files), getrlimit(RLIMIT_FSIZE, &bytes);
    const struct rlimit few = {12, files.rlim_max}, small = {100, bytes.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    int opened = 0;
    for (; open("f", O_WRONLY | O_CREAT, 0600) >= 0; opened++)
        ;
    printf("%d %s ", opened, strerror(errno));
    close(5);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    int fd = open("g", O_WRONLY | O_CREAT, 0600);
    char text[64] = {0};
    for (int i = 0; i < 3; i++)
        printf("%ld ", (long)write(fd, text, sizeof text));
    setrlimit(RLIMIT_NOFILE, &files), setrlimit(RLIMIT_FSIZE, &bytes);
    return puts("limited") < 0;
}

static int traced(void)
{
    pid_t child = fork();
    int status, stops = 0;
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        write_file("f", "traced\n");
        _exit(9);
    }
    waitpid(child, &status, 0);
    ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACESYSGOOD);
    for (; WIFSTOPPED(status); stops++) {
        int number = WSTOPSIG(status);
        ptrace(PTRACE_SYSCALL, child, 0, number == SIGSTOP || number == (SIGTRAP | 0x80) ? 0 : number);
        waitpid(child, &status, 0);
    }
    return printf("%d %d\n", WEXITSTATUS(status), stops > 2) < 0;
}

static void *use_files(void *name)
{
    write_file(name, "x");
    return NULL;
}

static int many_threads(void)
{
    pthread_attr_t attributes;
    pthread_t thread[MANY];
    pthread_attr_init(&attributes);
    printf("%d ", pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN)));
    for (int i = 0; i < MANY; i++)
        pthread_create(&thread[i], i % 2 ? NULL : &attributes, use_files, "f");
    for (int i = 0; i < MANY; i++)
        pthread_join(thread[i], NULL);
    struct stat info;
    stat("f", &info);
    return printf("%d\n", (int)info.st_size) < 0;
}

static void *end_later(void *unused)
{
    usleep(20000);
    write_file("f", "later\n");
    return unused;
}
static int main_thread_ends(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, end_later, NULL);
    pthread_exit(NULL);
}

static void *die_with_mutex(void *mutex)
{
    pthread_mutex_lock(mutex);
    return NULL;
}
static int robust_mutex(void)
{
    pthread_mutex_t mutex;
    pthread_mutexattr_t attributes;
    pthread_t thread;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &attributes);
    pthread_create(&thread, NULL, die_with_mutex, &mutex);
    pthread_join(thread, NULL);
    int result = pthread_mutex_lock(&mutex);
    pthread_mutex_consistent(&mutex);
    return printf("%s\n", strerror(result)) < 0;
}

static int load_often(void)
{
    for (int i = 0; i < 50; i++) {
        void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
        double (*root)(double) = (double (*)(double))dlsym(library, "cbrt");
        if (i == 49)
            printf("%g\n", root(27));
        dlclose(library);
    }
    return 0;
}

/* Checks that the process has only the child processes and threads that the program started. */
static int alone(void)
{
    int status;
    int child = waitpid(-1, &status, WNOHANG);
    printf("%d %s ", child, strerror(errno));
    struct stat info;
    stat("/proc/self/task", &info);
    return printf("%d\n", (int)info.st_nlink - 2) < 0;
}

static int no_arguments(void)
{
    if (argument)
        return 8;
    char *const none[] = {own_name, "no_arguments", "again", NULL}, *const nothing[] = {NULL};
    pid_t child = fork();
    if (child == 0) {
        execve("/proc/self/exe", none, nothing);
        _exit(127);
    }
    printf("%d\n", ended(child));
    return 0;
}

static void first(void) { puts("first"); }
static void second(int code, void *word) { printf("%s %d\n", (char *)word, code); }
static int exit_handlers(void)
{
    atexit(first);
    on_exit(second, "second");
    fputs("held ", stdout);
    pid_t child = fork();
    if (child == 0)
        exit(2);
    ended(child);
    exit(11);
}

static const struct harm_kind KINDS[] = {{"vfork_chain", vfork_chain},
                                         {"vfork_fails", vfork_fails},
                                         {"clone_vm", clone_vm},
                                         {"clone_vm_files", clone_vm_files},
                                         {"clone_files", clone_files},
                                         {"clone_raw", clone_raw},
                                         {"daemon_twice", daemon_twice},
                                         {"in_chroot", in_chroot},
                                         {"unshared", unshared},
                                         {"other_user", other_user},
                                         {"limits", limits},
                                         {"traced", traced},
                                         {"many_threads", many_threads},
                                         {"main_thread_ends", main_thread_ends},
                                         {"robust_mutex", robust_mutex},
                                         {"load_often", load_often},
                                         {"alone", alone},
                                         {"no_arguments", no_arguments},
                                         {"exit_handlers", exit_handlers}};

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOFBF, 4096);
    own_name = argv[0];
    argument = argc > 2 ? argv[2] : NULL;
    return argc < 2 ? 99 : run_kind(KINDS, sizeof KINDS / sizeof *KINDS, argv[1]);
}
