#include "sampling.h"

#if defined(__x86_64__)

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "../system/system_call.h"
#include "signals.h"

enum { CALL_BYTES = 2, MOST_COMPLETIONS = 1 << 16 };
#define NS_PER_SECOND INT64_C(1000000000)

/* Bits of the argument `flags` of io_uring_enter. */
enum { WAITS = 1 << 0, HAS_ARGUMENT = 1 << 3, IS_REGISTERED = 1 << 4, UNTIL = 1 << 5 };

/* The kernel's structs io_uring_getevents_arg and __kernel_timespec. */
struct wait_argument {
    uint64_t mask;
    uint32_t mask_bytes, least_wait;
    uint64_t limit;
};
struct wait_limit {
    int64_t seconds, nanoseconds;
};

/* A wait that this thread goes on with in iolens_ring_wait. The code there knows the first five members. */
struct ring_wait {
    uint64_t is_used, program_counter, rsi, r8, submitted;
    bool limited;
    int64_t deadline;
    struct wait_argument argument;
    struct wait_limit limit;
};
_Static_assert(offsetof(struct ring_wait, submitted) == 32, "iolens_ring_wait has this offset");

__attribute__((visibility("hidden"))) __thread struct ring_wait iolens_ring_waiting
    __attribute__((tls_model("initial-exec")));

extern const char iolens_ring_wait[], iolens_ring_waited[];

/* Makes the system call again, and returns to the program with the registers that it expects. The system call
 * may change rcx and r11 anyway. */
__asm__(".pushsection .text\n"
        ".globl iolens_ring_wait\n"
        ".hidden iolens_ring_wait\n"
        ".globl iolens_ring_waited\n"
        ".hidden iolens_ring_waited\n"
        "iolens_ring_wait:\n"
        "    movl $426, %eax\n" /* io_uring_enter */
        "    syscall\n"
        "iolens_ring_waited:\n"
        "    movq iolens_ring_waiting@gottpoff(%rip), %r11\n"
        "    movq %fs:32(%r11), %rcx\n" /* submitted: the result, if there were such requests. */
        "    testq %rcx, %rcx\n"
        "    cmovnz %rcx, %rax\n"
        "    movq %fs:16(%r11), %rsi\n"
        "    movq %fs:24(%r11), %r8\n"
        "    movq %fs:8(%r11), %rcx\n"
        "    movq $0, %fs:(%r11)\n"
        "    jmp *%rcx\n"
        ".popsection\n");

/* Copies memory of the program; returns false if a part of it is not mapped. */
static bool copy(void *out, uintptr_t address, size_t bytes)
{
    struct iovec here = {out, bytes}, there = {(void *)address, bytes};
    return system_call(SYS_process_vm_readv, system_call(SYS_getpid), &here, 1L, &there, 1L, 0L) ==
           (long)bytes;
}

static bool is_ring(int fd)
{
    static const char RING[] = "anon_inode:[io_uring]";
    char link[32], name[sizeof RING];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    return system_call(SYS_readlinkat, -1, link, name, sizeof name) == (long)sizeof RING - 1 &&
           memcmp(name, RING, sizeof RING - 1) == 0;
}

/* Returns true if the thread has just returned from a wait for a ring: no other system call on a ring has a
 * small third argument and this flag. A call that has also submitted requests returns their number, whether
 * or not its wait was ended. */
static bool has_waited(const greg_t *registers)
{
    static const uint8_t call[CALL_BYTES] = {0x0f, 0x05};
    uint8_t code[CALL_BYTES];
    greg_t result = registers[REG_RAX];
    bool ended = result == -EINTR || (result > 0 && result == (greg_t)(uint32_t)registers[REG_RSI]);
    return ended && registers[REG_RCX] == registers[REG_RIP] && registers[REG_RDX] > 0 &&
           registers[REG_RDX] <= MOST_COMPLETIONS &&
           (registers[REG_R10] & (WAITS | IS_REGISTERED)) == WAITS &&
           copy(code, (uintptr_t)registers[REG_RIP] - CALL_BYTES, sizeof code) &&
           memcmp(code, call, sizeof code) == 0 && is_ring((int)registers[REG_RDI]);
}

static int64_t now(void)
{
    struct timespec time = {0, 0};
    system_call(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
    return time.tv_sec * NS_PER_SECOND + time.tv_nsec;
}

/* Sets the time that is left. */
static void limit_again(struct ring_wait *wait)
{
    int64_t left = wait->limited ? wait->deadline - now() : 0;
    left = left > 0 ? left : 0;
    wait->limit = (struct wait_limit){left / NS_PER_SECOND, left % NS_PER_SECOND};
}

/* Has a wait with a limit use a copy of its argument, in which the time can be changed. Returns false if the
 * argument cannot be read. */
static bool take_limit(struct ring_wait *wait, greg_t *registers)
{
    if (!(registers[REG_R10] & HAS_ARGUMENT) || registers[REG_R10] & UNTIL)
        return true;
    if (!copy(&wait->argument, (uintptr_t)registers[REG_R8], sizeof wait->argument))
        return false;
    if (wait->argument.limit == 0)
        return true;
    if (!copy(&wait->limit, (uintptr_t)wait->argument.limit, sizeof wait->limit))
        return false;
    wait->limited = true;
    wait->deadline = now() + wait->limit.seconds * NS_PER_SECOND + wait->limit.nanoseconds;
    wait->argument.limit = (uintptr_t)&wait->limit;
    registers[REG_R8] = (greg_t)(uintptr_t)&wait->argument;
    return true;
}

static bool take_wait(struct ring_wait *wait, greg_t *registers)
{
    greg_t result = registers[REG_RAX];
    *wait = (struct ring_wait){.program_counter = (uint64_t)registers[REG_RIP],
                               .rsi = (uint64_t)registers[REG_RSI],
                               .r8 = (uint64_t)registers[REG_R8],
                               .submitted = result > 0 ? (uint64_t)result : 0};
    if (!take_limit(wait, registers))
        return false;
    wait->is_used = 1;
    registers[REG_RSI] = result > 0 ? 0 : registers[REG_RSI];
    return true;
}

/* A handler that interrupts a continued wait may wait itself; that wait stays ended, and so do all later ones
 * if the handler jumps away. */
void ring_waits_continue(void *interrupted)
{
    ucontext_t *context = interrupted;
    greg_t *registers = context->uc_mcontext.gregs;
    struct ring_wait *wait = &iolens_ring_waiting;
    bool again = registers[REG_RIP] == (greg_t)(uintptr_t)iolens_ring_waited && registers[REG_RAX] == -EINTR;
    if (!again && (wait->is_used || !has_waited(registers)))
        return;
    if (signals_await_handler(context) || (!again && !take_wait(wait, registers)))
        return;
    if (wait->limited)
        limit_again(wait);
    registers[REG_RIP] = (greg_t)(uintptr_t)iolens_ring_wait;
}

#else

void ring_waits_continue(void *interrupted) { (void)interrupted; }

#endif
