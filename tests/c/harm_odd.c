/* harm_odd HOW: programs that do the unusual; each says the same and ends alike with the recorder and
 * without. */
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
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static int total;

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

static void handler(int number)
{
    (void)number;
    int before = errno;
    use("handler.dat");
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

/* Its end is asked for before it begins, and comes where the C library first looks: not inside the recorder,
 * which here makes its spool. */
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

static void at_exit(void)
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

static void run(const char *how)
{
    static char stack[1 << 18];
    char *const program[] = {"true", NULL};
    pthread_t thread;
    pid_t pid;
    if (strcmp(how, "no_descriptors") == 0)
        limit(RLIMIT_NOFILE, 3), printf("%d ", use("odd.dat"));
    if (strcmp(how, "closed") == 0)
        close(0), close(2), printf("%d ", use("odd.dat"));
    if (strcmp(how, "little_stack") == 0)
        limit(RLIMIT_STACK, 16384), printf("%d ", use("odd.dat"));
    if (strcmp(how, "small_files") == 0)
        signal(SIGXFSZ, SIG_DFL), limit(RLIMIT_FSIZE, 4), printf("%d ", use("odd.dat"));
    if (strcmp(how, "no_address_space") == 0)
        limit(RLIMIT_AS, 1 << 20), printf("%d ", use("odd.dat"));
    if (strcmp(how, "no_processes") == 0)
        limit(RLIMIT_NPROC, 1), printf("%d ", use("odd.dat"));
    if (strcmp(how, "handler") == 0) {
        often(handler);
        for (int i = 0; i < 500; i++)
            total += use("odd.dat");
        setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
        printf("%d ", total);
    }
    if (strcmp(how, "handler_threads") == 0) {
        pthread_t two;
        pthread_create(&thread, NULL, forever, "odd1.dat");
        pthread_create(&two, NULL, forever, "odd2.dat");
        often(handler);
        for (int i = 0; i < 500; i++)
            total += use("odd.dat");
        setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
        printf("%d ", total);
    }
    if (strcmp(how, "fork_threads") == 0) {
        pthread_create(&thread, NULL, forever, "odd1.dat");
        for (int i = 0; i < 10; i++) {
            if ((pid = fork()) == 0)
                _exit(use("child.dat"));
            wait_for(pid);
        }
    }
    if (strcmp(how, "cancel") == 0 || strcmp(how, "cancel_asynchronous") == 0)
        for (int i = 0; i < 10; i++) {
            pthread_create(&thread, NULL, how[6] ? asynchronous : forever, "odd1.dat");
            usleep(500);
            pthread_cancel(thread);
            pthread_join(thread, NULL);
        }
    if (strcmp(how, "cancelled_before") == 0) {
        pthread_create(&thread, NULL, cancelled, "odd.folder");
        pthread_join(thread, NULL);
        printf("%d ", use("odd.dat"));
    }
    if (strcmp(how, "threads") == 0) {
        static pthread_t many[400];
        pthread_attr_t small;
        pthread_attr_init(&small);
        pthread_attr_setstacksize(&small, 65536);
        for (int i = 0; i < 400; i++)
            pthread_create(&many[i], &small, once, "odd.dat");
        for (int i = 0; i < 400; i++)
            pthread_join(many[i], NULL);
    }
    if (strcmp(how, "clone_memory") == 0) {
        pid = clone(cloned, stack + sizeof stack, CLONE_VM | SIGCHLD, "odd.dat");
        wait_for(pid);
    }
    if (strcmp(how, "clone_vfork") == 0) {
        pid = clone(cloned, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, "odd.dat");
        wait_for(pid);
    }
    if (strcmp(how, "spawn") == 0) {
        posix_spawnp(&pid, "true", NULL, NULL, program, environ);
        wait_for(pid);
        printf("%d ", system("exit 4"));
        FILE *pipe = popen("echo text", "r");
        printf("%d ", fgetc(pipe));
        pclose(pipe);
    }
    if (strcmp(how, "execveat") == 0) {
        int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        char *const again[] = {"again", "nothing", NULL};
        syscall(SYS_execveat, fd, "", again, environ, 0x1000);
    }
    if (strcmp(how, "dlmopen") == 0) {
        void *library = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);
        int (*other)(const char *, int, ...) = library ? dlsym(library, "open") : NULL;
        printf("%d ", other && other("/dev/null", O_RDONLY) >= 0);
    }
    if (strcmp(how, "descriptors_gone") == 0)
        for (int fd = 3; fd < 1000; fd++)
            close(fd);
    if (strcmp(how, "at_exit") == 0)
        atexit(at_exit);
    if (strcmp(how, "other_stack") == 0) {
        stack_t other = {.ss_sp = malloc(8192), .ss_size = 8192};
        struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
        sigaltstack(&other, NULL);
        sigaction(SIGUSR1, &action, NULL);
        raise(SIGUSR1);
    }
}

int main(int count, char **argument)
{
    setvbuf(stdout, NULL, _IOFBF, 4096);
    const char *how = count > 1 ? argument[1] : "nothing";
    if (count > 2)
        use("before.dat");
    run(how);
    printf("%s", how);
    return 3;
}
