#include "system_call.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/utsname.h>

#if defined(__x86_64__)

__attribute__((used, visibility("hidden"))) long iolens_system_call_failed(long error)
{
    errno = (int)error;
    return -1;
}

__asm__(".pushsection .text\n"
        ".globl system_call\n"
        ".hidden system_call\n"
        ".type system_call, @function\n"
        "system_call:\n"
        "    .cfi_startproc\n"
        "    movq %rdi, %rax\n"
        "    movq %rsi, %rdi\n"
        "    movq %rdx, %rsi\n"
        "    movq %rcx, %rdx\n"
        "    movq %r8, %r10\n"
        "    movq %r9, %r8\n"
        "    movq 8(%rsp), %r9\n"
        "    syscall\n"
        "    cmpq $-4095, %rax\n" /* The kernel returns errors as numbers from -4095 to -1. */
        "    jae 1f\n"
        "    ret\n"
        "1:  negq %rax\n"
        "    movq %rax, %rdi\n"
        "    jmp iolens_system_call_failed\n"
        "    .cfi_endproc\n"
        ".size system_call, . - system_call\n"
        ".popsection\n");

#else

#include <unistd.h>

long system_call(long number, ...)
{
    long value[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        value[i] = va_arg(list, long);
    va_end(list);
    return syscall(number, value[0], value[1], value[2], value[3], value[4], value[5]);
}

#endif

size_t slurp(const char *path, char *text, size_t size)
{
    size_t used = 0;
    int fd = (int)system_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    while (fd >= 0 && used < size - 1) {
        ssize_t got = system_call(SYS_read, fd, text + used, size - 1 - used);
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    if (fd >= 0)
        system_call(SYS_close, fd);
    text[used] = '\0';
    return used;
}

void host_name(char *name, size_t bytes)
{
    struct utsname node;
    bool known = system_call(SYS_uname, &node) == 0;
    snprintf(name, bytes, "%s", known ? node.nodename : "");
}
