/* vfork, wrapped so that its child records nothing. Parent and child share all memory; to tell them apart,
 * the kernel would have to be asked at every open and close, which would double their cost.
 *
 * A wrapper in C would return into a frame that the child has used. As in the C library, the return address
 * waits in a register while the child runs. The child keeps `iolens_busy` set; the parent, which runs again
 * when the child is gone or has become another program, clears it. */
#include "../runtime/context.h"

#if defined(__x86_64__)

__attribute__((used, visibility("hidden"))) int iolens_vfork_failed(int error)
{
    errno = error;
    return -1;
}

__asm__(".pushsection .text\n"
        ".globl vfork\n"
        ".type vfork, @function\n"
        "vfork:\n"
        "    movq iolens_busy@gottpoff(%rip), %rsi\n"
        "    popq %rdi\n"
        "    movb $1, %fs:(%rsi)\n"
        "    movl $58, %eax\n" /* SYS_vfork; the kernel preserves rdi and rsi. */
        "    syscall\n"
        "    pushq %rdi\n"
        "    testl %eax, %eax\n"
        "    jz 1f\n"
        "    movb $0, %fs:(%rsi)\n"
        "    js 2f\n"
        "1:  ret\n"
        "2:  negl %eax\n"
        "    movl %eax, %edi\n"
        "    jmp iolens_vfork_failed\n"
        ".size vfork, . - vfork\n"
        ".popsection\n");

#endif
