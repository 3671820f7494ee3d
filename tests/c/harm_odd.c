/* harm_odd HOW: programs that do unusual things; each must print the same and end in the same way with and
 * without the recorder. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int use(const char *name)
{
    char text[8] = "";
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0)
        return errno == EMFILE ? -1 : 0;
    int moved = (int)write(fd, "text", 4) + (int)pread(fd, text, 4, 0);
    close(fd);
    return moved;
}

static void limit(int which, rlim_t most)
{
    struct rlimit now = {most, most};
    setrlimit(which, &now);
}

/* Stops the timer after some signals, because the program would make no progress if files took longer than
 * the timer's period. */
static void handler(int number)
{
    static volatile sig_atomic_t runs;
    (void)number;
    int before = errno;
    use("handler.dat");
    if (++runs == 10000)
        setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    errno = before;
}

static void often(void (*what)(int))
{
    struct itimerval timer = {{0, 200}, {0, 200}};
    struct sigaction action = {.sa_handler = what, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void *forever(void *name)
{
    for (;;)
        use(name);
    return NULL;
}

static void *asynchronous(void *name)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    return forever(name);
}

/* Cancels its own thread before the thread's first recorded call. The thread must end in pthread_testcancel,
 * and not in mkdir, during which the recorder makes its spool. */
static void *cancelled(void *name)
{
    pthread_cancel(pthread_self());
    mkdir(name, 0700);
    pthread_testcancel();
    return NULL;
}

static void *once(void *name)
{
    use(name);
    return NULL;
}

static int cloned(void *name)
{
    use(name);
    syscall(SYS_exit_group, 5);
    return 0;
}

static void use_and_exit(void)
{
    use("at_exit.dat");
    exit(3);
}

static void wait_for(pid_t pid)
{
    int status = 0;
    waitpid(pid, &status, 0);
    printf("%d ", WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status));
}

static int few(void) { return use("odd.dat"); }

static void says(int number) { printf("%d ", number); }

static void no_descriptors(void) { limit(RLIMIT_NOFILE, 3), says(few()); }
static void closed(void) { close(0), close(2), says(few()); }
static void little_stack(void) { limit(RLIMIT_STACK, 16384), says(few()); }
static void small_files(void) { signal(SIGXFSZ, SIG_DFL), limit(RLIMIT_FSIZE, 4), says(few()); }
static void no_address_space(void) { limit(RLIMIT_AS, 1 << 20), says(few()); }
static void no_processes(void) { limit(RLIMIT_NPROC, 1), says(few()); }
static void at_exit(void) { atexit(use_and_exit); }

static void interrupted(void)
{
    int total = 0;
    often(handler);
    for (int i = 0; i < 500; i++)
        total += few();
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    says(total);
}

static void interrupted_threads(void)
{
    pthread_t one, two;
    pthread_create(&one, NULL, forever, "odd1.dat");
    pthread_create(&two, NULL, forever, "odd2.dat");
    interrupted();
}

static void fork_threads(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, forever, "odd1.dat");
    for (int i = 0; i < 10; i++) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(use("child.dat"));
        wait_for(pid);
    }
}

static void cancel_ten(void *(*what)(void *))
{
    for (int i = 0; i < 10; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, what, "odd1.dat");
        usleep(500);
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
}

static void cancel(void) { cancel_ten(forever); }
static void cancel_asynchronous(void) { cancel_ten(asynchronous); }

static void cancelled_before(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, cancelled, "odd.folder");
    pthread_join(thread, NULL);
    says(few());
}

static void threads(void)
{
    static pthread_t many[400];
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (int i = 0; i < 400; i++)
        pthread_create(&many[i], &small, once, "odd.dat");
    for (int i = 0; i < 400; i++)
        pthread_join(many[i], NULL);
}

static void clone_with(int flags)
{
    static char stack[1 << 18];
    wait_for(clone(cloned, stack + sizeof stack, CLONE_VM | SIGCHLD | flags, "odd.dat"));
}

static void clone_memory(void) { clone_with(0); }
static void clone_vfork(void) { clone_with(CLONE_VFORK); }

static void spawn(void)
{
    char *const program[] = {"true", NULL};
    pid_t pid;
    posix_spawnp(&pid, "true", NULL, NULL, program, environ);
    wait_for(pid);
    says(system("exit 4"));
    FILE *pipe = popen("echo text", "r");
    says(fgetc(pipe));
    pclose(pipe);
}

static void by_descriptor(void)
{
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    char *const again[] = {"again", "nothing", NULL};
    syscall(SYS_execveat, fd, "", again, environ, 0x1000);
}

static void second_c_library(void)
{
    void *library = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);
    int (*other)(const char *, int, ...) = library ? dlsym(library, "open") : NULL;
    says(other && other("/dev/null", O_RDONLY) >= 0);
}

static void descriptors_gone(void)
{
    for (int fd = 3; fd < 1000; fd++)
        close(fd);
}

/* Overflows a stack of 8 KiB, of which the kernel uses up to half for the registers. */
static void raise_on_small_stack(void (*what)(int))
{
    enum { PAGE = 4096, SMALL = 8192 };
    char *memory = mmap(NULL, PAGE + SMALL, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(memory + PAGE, SMALL, PROT_READ | PROT_WRITE);
    stack_t other = {.ss_sp = memory + PAGE, .ss_size = SMALL};
    struct sigaction action = {.sa_handler = what, .sa_flags = SA_ONSTACK};
    sigaltstack(&other, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
}

static void open_links(int number)
{
    (void)number;
    close(open("link/../link/./odd.dat", O_RDWR | O_CREAT, 0600));
    rename("link/odd.dat", "link/odd2.dat");
    unlink("link/odd2.dat");
}

static void open_stream(int number)
{
    (void)number;
    fclose(fopen("link/odd.dat", "w"));
}

static void small_stack(void) { raise_on_small_stack(handler); }

static void small_stack_link(void)
{
    mkdir("odd.folder", 0700);
    symlink("odd.folder", "link");
    raise_on_small_stack(open_links);
}

static void small_stack_stream(void)
{
    symlink(".", "link");
    raise_on_small_stack(open_stream);
}

static const struct {
    const char *name;
    void (*run)(void);
} HOW[] = {{"no_descriptors", no_descriptors},
           {"closed", closed},
           {"little_stack", little_stack},
           {"small_files", small_files},
           {"no_address_space", no_address_space},
           {"no_processes", no_processes},
           {"handler", interrupted},
           {"handler_threads", interrupted_threads},
           {"fork_threads", fork_threads},
           {"cancel", cancel},
           {"cancel_asynchronous", cancel_asynchronous},
           {"cancelled_before", cancelled_before},
           {"threads", threads},
           {"clone_memory", clone_memory},
           {"clone_vfork", clone_vfork},
           {"spawn", spawn},
           {"execveat", by_descriptor},
           {"dlmopen", second_c_library},
           {"descriptors_gone", descriptors_gone},
           {"at_exit", at_exit},
           {"small_stack", small_stack},
           {"small_stack_link", small_stack_link},
           {"small_stack_stream", small_stack_stream}};

int main(int count, char **argument)
{
    setvbuf(stdout, NULL, _IOFBF, 4096);
    const char *how = count > 1 ? argument[1] : "nothing";
    if (count > 2)
        use("before.dat");
    for (size_t i = 0; i < sizeof HOW / sizeof *HOW; i++)
        if (strcmp(how, HOW[i].name) == 0)
            HOW[i].run();
    printf("%s", how);
    return 3;
}
