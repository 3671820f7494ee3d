/* Lets the test program answer system calls that the recorder makes directly, without the C library: a filter
 * raises SIGSYS for calls from libiolens.so, and the handler returns their results. The filter applies to the
 * calling thread and the threads that it starts. For x86-64. */
#include <errno.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

/* A function that answers a trapped system call. It returns an error as a negative number, as the kernel
 * does. */
typedef long trapped_answer(long number, const long values[6]);

struct trapped_code {
    uintptr_t begin, end;
};

static trapped_answer *trapped_answer_now;

static long make_call(long number, const long values[6])
{
    register long fourth __asm__("r10") = values[3];
    register long fifth __asm__("r8") = values[4];
    register long sixth __asm__("r9") = values[5];
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(values[0]), "S"(values[1]), "d"(values[2]), "r"(fourth), "r"(fifth),
                       "r"(sixth)
                     : "rcx", "r11", "memory");
    return result;
}

/* Changes the signal mask that applies after the handler returns. SIGSYS is never blocked, because a trap
 * while it is blocked ends the process. */
static long change_mask(const long values[6], sigset_t *mask)
{
    uint64_t before, after, change;
    memcpy(&before, mask, sizeof before);
    if (values[1]) {
        memcpy(&change, (void *)values[1], sizeof change);
        after = values[0] == SIG_BLOCK     ? before | change
                : values[0] == SIG_UNBLOCK ? before & ~change
                                           : change;
        after &= ~(UINT64_C(1) << (SIGSYS - 1));
        memcpy(mask, &after, sizeof after);
    }
    if (values[2])
        memcpy((void *)values[2], &before, sizeof before);
    return 0;
}

static void answer_trap(int signal, siginfo_t *info, void *interrupted)
{
    ucontext_t *context = interrupted;
    greg_t *registers = context->uc_mcontext.gregs;
    const long values[6] = {registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                            registers[REG_R10], registers[REG_R8],  registers[REG_R9]};
    int error = errno;
    (void)signal;
    registers[REG_RAX] = info->si_syscall == SYS_rt_sigprocmask
                             ? change_mask(values, &context->uc_sigmask)
                             : trapped_answer_now(info->si_syscall, values);
    errno = error;
}

static int find_recorder(struct dl_phdr_info *object, size_t bytes, void *code)
{
    const char *name = strrchr(object->dlpi_name, '/');
    (void)bytes;
    for (int i = 0; name && strcmp(name, "/libiolens.so") == 0 && i < object->dlpi_phnum; i++) {
        uintptr_t begin = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
        if (object->dlpi_phdr[i].p_type == PT_LOAD && object->dlpi_phdr[i].p_flags & PF_X)
            *(struct trapped_code *)code = (struct trapped_code){begin, begin + object->dlpi_phdr[i].p_memsz};
    }
    return 0;
}

/* Traps the two given system calls, and the one that blocks signals. Ends the program if that is
 * impossible. */
static void trap_calls(long first, long second, trapped_answer *answer)
{
    enum { LOW = offsetof(struct seccomp_data, instruction_pointer), HIGH = LOW + sizeof(uint32_t) };
    struct trapped_code code = {0};
    struct sigaction action = {.sa_sigaction = answer_trap, .sa_flags = SA_SIGINFO};
    dl_iterate_phdr(find_recorder, &code);
    struct sock_filter rule[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, HIGH),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, code.begin >> 32, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, code.end >> 32, 0, 7),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LOW),
        BPF_STMT(BPF_ALU | BPF_SUB | BPF_K, (uint32_t)code.begin),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, code.end - code.begin, 4, 0),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, first, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, second, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigprocmask, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
    };
    struct sock_fprog program = {sizeof rule / sizeof *rule, rule};
    const long alone[6] = {PR_SET_NO_NEW_PRIVS, 1}, filter[6] = {SECCOMP_SET_MODE_FILTER, 0, (long)&program};
    trapped_answer_now = answer;
    sigaction(SIGSYS, &action, NULL);
    if (code.begin && make_call(SYS_prctl, alone) == 0 && make_call(SYS_seccomp, filter) == 0)
        return;
    fprintf(stderr, "The system calls of libiolens.so cannot be trapped.\n");
    exit(1);
}
