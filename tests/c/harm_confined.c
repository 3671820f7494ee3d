/* harm_confined HOW: a program that gives up one of its rights, between two writes of 5 bytes to
 * confined.dat, with text that waits in a buffer until the end.
 *   tsc, tsc_by_number   reading the time stamp counter raises SIGSEGV
 *   strict               allows only read, write and exit
 *   filter, by_number    allows these and exit_group, by a filter; any other call ends the process
 *   asked                only asks whether there are filters */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ALLOW(number)                                                                                        \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void filter(int by_number)
{
    struct sock_filter rule[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_read),
        ALLOW(SYS_write),
        ALLOW(SYS_exit),
        ALLOW(SYS_exit_group),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {sizeof rule / sizeof *rule, rule};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (by_number)
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
    else
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void confine(const char *how)
{
    if (strcmp(how, "tsc") == 0)
        prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    if (strcmp(how, "tsc_by_number") == 0)
        syscall(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    if (strcmp(how, "strict") == 0)
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    if (strcmp(how, "filter") == 0 || strcmp(how, "by_number") == 0)
        filter(how[0] == 'b');
    if (strcmp(how, "asked") == 0) {
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL);
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL);
    }
}

int main(int count, char **argument)
{
    static char buffer[4096];
    const char *how = count > 1 ? argument[1] : "nothing";
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    int fd = open("confined.dat", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    long moved = write(fd, "first", 5);
    confine(how);
    for (int i = 0; i < 3; i++)
        moved += write(fd, "again", 5);
    printf("%s %ld", how, moved);
    if (strcmp(how, "strict") == 0) {
        fflush(stdout);
        syscall(SYS_exit, 3);
    }
    if (how[0] == 'b')
        _exit((fflush(stdout), 3));
    return 3;
}
