/* Prints everything that this process inherited from the process that started it, one `name value` a line, as
 * the kernel tells it. The first argument is the file to write to. Numbers that differ in every process (its
 * own process number) are printed as the relation to the process or its parent. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <termios.h>
#include <unistd.h>

enum { SIGNALS = 64, DESCRIPTORS = 1024, TEXT = 65536 };

extern char **environ;

static FILE *out;

/* Reads a file of /proc without the C library's streams, whose buffers would be seen by nobody but are calls
 * that the profiler wraps. */
static const char *content(const char *path)
{
    static char text[TEXT];
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    long bytes = fd < 0 ? 0 : syscall(SYS_read, fd, text, sizeof text - 1);
    if (fd >= 0)
        syscall(SYS_close, fd);
    text[bytes > 0 ? bytes : 0] = '\0';
    return text;
}

static void put_quoted(const char *name, const char *text)
{
    fprintf(out, "%s ", name);
    for (; *text; text++)
        fprintf(out, *text == '\n' ? "\\n" : "%c", *text);
    fprintf(out, "\n");
}

static void put_lines_of(const char *path, const char *const *names, size_t count)
{
    char name[64];
    const char *text = content(path);
    for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        for (size_t i = 0; i < count; i++)
            if (strncmp(line, names[i], strlen(names[i])) == 0 && line[strlen(names[i])] == ':') {
                snprintf(name, sizeof name, "status.%s", names[i]);
                fprintf(out, "%s %.*s\n", name, (int)strcspn(line + strlen(names[i]) + 1, "\n"),
                        line + strlen(names[i]) + 1);
            }
}

static void put_status(void)
{
    static const char *const names[] = {"Umask",
                                        "Uid",
                                        "Gid",
                                        "Groups",
                                        "SigPnd",
                                        "ShdPnd",
                                        "SigBlk",
                                        "SigIgn",
                                        "CapInh",
                                        "CapPrm",
                                        "CapEff",
                                        "CapBnd",
                                        "CapAmb",
                                        "NoNewPrivs",
                                        "Seccomp",
                                        "Seccomp_filters",
                                        "Speculation_Store_Bypass",
                                        "SpeculationIndirectBranch",
                                        "CoreDumping",
                                        "THP_enabled",
                                        "Cpus_allowed",
                                        "Mems_allowed"};
    put_lines_of("/proc/self/status", names, sizeof names / sizeof *names);
}

/* Prints each signal whose action is not the default. */
static void put_signals(void)
{
    struct {
        void *handler;
        unsigned long flags;
        void *restorer;
        unsigned long mask;
    } action;
    for (int number = 1; number <= SIGNALS; number++) {
        if (syscall(SYS_rt_sigaction, number, NULL, &action, 8) != 0 || action.handler == NULL)
            continue;
        fprintf(out, "signal.%d %s\n", number, action.handler == (void *)1 ? "ignored" : "caught");
    }
}

static void put_limits(void)
{
    for (int i = 0; i < 16; i++) {
        struct rlimit limit;
        if (getrlimit(i, &limit) == 0)
            fprintf(out, "limit.%d %llx %llx\n", i, (unsigned long long)limit.rlim_cur,
                    (unsigned long long)limit.rlim_max);
    }
}

static void put_scheduling(void)
{
    struct {
        unsigned size, policy;
        unsigned long long flags;
        int nice;
        unsigned priority;
        unsigned long long runtime, deadline, period;
        unsigned clamp_least, clamp_most;
    } attributes = {.size = sizeof attributes};
    fprintf(out, "nice %d\n", getpriority(PRIO_PROCESS, 0));
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) == 0)
        fprintf(out, "scheduling %u %llx %d %u %u %u\n", attributes.policy, attributes.flags, attributes.nice,
                attributes.priority, attributes.clamp_least, attributes.clamp_most);
    fprintf(out, "ioprio %ld\n", syscall(SYS_ioprio_get, 1, 0));
    put_quoted("oom_score_adj", content("/proc/self/oom_score_adj"));
    put_quoted("coredump_filter", content("/proc/self/coredump_filter"));
    put_quoted("cgroup", content("/proc/self/cgroup"));
    put_quoted("timerslack_ns", content("/proc/self/timerslack_ns"));
    unsigned long nodes[16] = {0};
    int mode = -1;
    if (syscall(SYS_get_mempolicy, &mode, nodes, 1024, NULL, 0) == 0)
        fprintf(out, "mempolicy %d %lx\n", mode, nodes[0]);
}

/* Prints the process, its parent, its parent's parent and so on, by which a reader tells whose groups these
 * are. */
static void put_ancestors(void)
{
    char path[64];
    long number = getpid();
    for (fprintf(out, "ancestors"); number > 0; number = strtol(strrchr(content(path), ')') + 4, NULL, 10)) {
        fprintf(out, " %ld", number);
        snprintf(path, sizeof path, "/proc/%ld/stat", number);
        if (!strrchr(content(path), ')'))
            break;
    }
    fprintf(out, "\n");
}

static void put_terminal(void)
{
    struct termios modes;
    struct winsize size;
    put_ancestors();
    fprintf(out, "group %d\n", (int)getpgrp());
    fprintf(out, "session %d\n", (int)getsid(0));
    int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0) {
        fprintf(out, "terminal none %s\n", strerror(errno));
        return;
    }
    fprintf(out, "foreground %d\n", (int)tcgetpgrp(terminal));
    if (tcgetattr(terminal, &modes) == 0)
        fprintf(out, "modes %x %x %x %x\n", modes.c_iflag, modes.c_oflag, modes.c_cflag, modes.c_lflag);
    if (ioctl(terminal, TIOCGWINSZ, &size) == 0)
        fprintf(out, "window %d %d\n", size.ws_row, size.ws_col);
    close(terminal);
}

static void put_prctl(void)
{
    static const struct {
        const char *name;
        int option;
    } by_value[] = {{"dumpable", PR_GET_DUMPABLE},         {"keepcaps", PR_GET_KEEPCAPS},
                    {"securebits", PR_GET_SECUREBITS},     {"timerslack", PR_GET_TIMERSLACK},
                    {"no_new_privs", PR_GET_NO_NEW_PRIVS}, {"thp_disable", PR_GET_THP_DISABLE},
                    {"seccomp", PR_GET_SECCOMP},           {"timing", PR_GET_TIMING},
                    {"machine_check", PR_MCE_KILL_GET}},
      by_address[] = {
          {"parent_death", PR_GET_PDEATHSIG}, {"subreaper", PR_GET_CHILD_SUBREAPER}, {"tsc", PR_GET_TSC}};
    for (size_t i = 0; i < sizeof by_value / sizeof *by_value; i++)
        fprintf(out, "prctl.%s %d\n", by_value[i].name, prctl(by_value[i].option, 0, 0, 0, 0));
    for (size_t i = 0; i < sizeof by_address / sizeof *by_address; i++) {
        int value = -1;
        prctl(by_address[i].option, &value, 0, 0, 0);
        fprintf(out, "prctl.%s %d\n", by_address[i].name, value);
    }
    fprintf(out, "personality %x\n", (unsigned)personality(0xffffffff));
    put_quoted("comm", content("/proc/self/comm"));
}

/* Prints which timers run. Their remaining time differs in every process. */
static void put_timers(void)
{
    for (int i = ITIMER_REAL; i <= ITIMER_PROF; i++) {
        struct itimerval timer;
        getitimer(i, &timer);
        fprintf(out, "timer.%d %s %ld.%06ld\n", i,
                timer.it_value.tv_sec || timer.it_value.tv_usec ? "runs" : "off",
                (long)timer.it_interval.tv_sec, (long)timer.it_interval.tv_usec);
    }
}

static void put_descriptors(void)
{
    for (int fd = 0; fd < DESCRIPTORS; fd++) {
        struct stat info;
        char path[64], target[4096];
        int flags = fcntl(fd, F_GETFD);
        if (flags < 0 || fd == fileno(out))
            continue;
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t bytes = readlink(path, target, sizeof target - 1);
        target[bytes > 0 ? bytes : 0] = '\0';
        fstat(fd, &info);
        long long place = S_ISREG(info.st_mode) ? (long long)lseek(fd, 0, SEEK_CUR) : 0;
        fprintf(out, "descriptor.%d %x %x %o %lld %s\n", fd, flags, fcntl(fd, F_GETFL), info.st_mode, place,
                S_ISREG(info.st_mode) || S_ISCHR(info.st_mode) || S_ISDIR(info.st_mode) ? target : "");
    }
}

static void put_folders(void)
{
    char path[4096];
    fprintf(out, "folder %s\n", getcwd(path, sizeof path) ? path : strerror(errno));
    ssize_t bytes = readlink("/proc/self/cwd", path, sizeof path - 1);
    fprintf(out, "cwd %.*s\n", (int)(bytes > 0 ? bytes : 0), path);
    bytes = readlink("/proc/self/root", path, sizeof path - 1);
    fprintf(out, "root %.*s\n", (int)(bytes > 0 ? bytes : 0), path);
}

static void put_namespaces(void)
{
    static const char *const names[] = {
        "cgroup", "ipc", "mnt", "net", "pid", "pid_for_children", "time", "time_for_children", "user", "uts"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[64], target[64];
        snprintf(path, sizeof path, "/proc/self/ns/%s", names[i]);
        ssize_t bytes = readlink(path, target, sizeof target);
        fprintf(out, "namespace.%s %.*s\n", names[i], (int)(bytes > 0 ? bytes : 0), target);
    }
}

static void put_start(int count, char **words)
{
    static const struct {
        const char *name;
        unsigned long type;
    } numbers[] = {{"secure", AT_SECURE}, {"uid", AT_UID},       {"euid", AT_EUID},     {"gid", AT_GID},
                   {"egid", AT_EGID},     {"hwcap", AT_HWCAP},   {"hwcap2", AT_HWCAP2}, {"flags", AT_FLAGS},
                   {"clktck", AT_CLKTCK}, {"pagesz", AT_PAGESZ}, {"minsigstksz", 51}};
    for (int i = 0; i < count; i++)
        if (i != 1) {
            fprintf(out, "argument.%d ", i);
            put_quoted("", words[i]);
        }
    put_quoted("auxv.execfn", (const char *)getauxval(AT_EXECFN));
    put_quoted("auxv.platform", (const char *)getauxval(AT_PLATFORM));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        fprintf(out, "auxv.%s %lx\n", numbers[i].name, getauxval(numbers[i].type));
    for (char **entry = environ; *entry; entry++) {
        fprintf(out, "environment.");
        put_quoted("", *entry);
    }
}

static void put_floating_point(void)
{
#ifdef __x86_64__
    unsigned mxcsr = 0;
    unsigned short control = 0;
    __asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
    __asm__ volatile("fnstcw %0" : "=m"(control));
    fprintf(out, "floating_point %x %x\n", mxcsr & ~0x3fU, control);
#endif
    stack_t stack;
    sigaltstack(NULL, &stack);
    fprintf(out, "alternate_stack %x\n", stack.ss_flags);
}

int main(int count, char **words)
{
    if (count < 2 || !(out = fopen(words[1], "we")))
        return 99;
    put_status();
    put_signals();
    put_limits();
    put_scheduling();
    put_terminal();
    put_prctl();
    put_timers();
    put_descriptors();
    put_folders();
    put_namespaces();
    put_floating_point();
    put_start(count, words);
    return fclose(out) == 0 ? 0 : 98;
}
