#include "../system/large_room.h"
#include "dispatch.h"

void *stub_slots[STUBS] LARGE_ROOM;

/* Longest name of a function, with the end of the text. Names are kept in an array instead of pointers, which
 * the loader would have to adjust in every process. */
enum { NAME_BYTES = 36 };

static const char names[STUBS / 2][NAME_BYTES] = {
#define NAME(name) #name,
#include "names.h"
#undef NAME
};

#define NAME(name) _Static_assert(sizeof #name <= NAME_BYTES, "NAME_BYTES must have room for " #name);
#include "names.h"
#undef NAME

const char *stub_name(enum stub stub) { return names[stub / 2]; }

/* A stub uses only registers that a call may change and that hold no argument. stubs_fill keeps all registers
 * that may hold an argument, gets the target, and jumps to it. */
#if defined(__x86_64__)
#define STUB                                                                                                 \
    "  endbr64\n"                                                                                            \
    "  movq stub_slots+8*stub_number(%rip), %r11\n"                                                          \
    "  testq %r11, %r11\n"                                                                                   \
    "  je 1f\n"                                                                                              \
    "  jmpq *%r11\n"                                                                                         \
    "1: movl $stub_number, %r11d\n"                                                                          \
    "  jmp stubs_fill\n"
#define FILL                                                                                                 \
    "  .cfi_startproc\n"                                                                                     \
    "  pushq %rbp\n"                                                                                         \
    "  .cfi_adjust_cfa_offset 8\n"                                                                           \
    "  .cfi_rel_offset %rbp, 0\n"                                                                            \
    "  movq %rsp, %rbp\n"                                                                                    \
    "  .cfi_def_cfa_register %rbp\n"                                                                         \
    "  subq $192, %rsp\n"                                                                                    \
    "  andq $-16, %rsp\n"                                                                                    \
    "  movq %rdi, 0(%rsp)\n"                                                                                 \
    "  movq %rsi, 8(%rsp)\n"                                                                                 \
    "  movq %rdx, 16(%rsp)\n"                                                                                \
    "  movq %rcx, 24(%rsp)\n"                                                                                \
    "  movq %r8, 32(%rsp)\n"                                                                                 \
    "  movq %r9, 40(%rsp)\n"                                                                                 \
    "  movq %rax, 48(%rsp)\n"                                                                                \
    "  movq %r10, 56(%rsp)\n"                                                                                \
    "  movaps %xmm0, 64(%rsp)\n"                                                                             \
    "  movaps %xmm1, 80(%rsp)\n"                                                                             \
    "  movaps %xmm2, 96(%rsp)\n"                                                                             \
    "  movaps %xmm3, 112(%rsp)\n"                                                                            \
    "  movaps %xmm4, 128(%rsp)\n"                                                                            \
    "  movaps %xmm5, 144(%rsp)\n"                                                                            \
    "  movaps %xmm6, 160(%rsp)\n"                                                                            \
    "  movaps %xmm7, 176(%rsp)\n"                                                                            \
    "  movl %r11d, %edi\n"                                                                                   \
    "  movq 8(%rbp), %rsi\n"                                                                                 \
    "  call stub_target\n"                                                                                   \
    "  movq %rax, %r11\n"                                                                                    \
    "  movq 0(%rsp), %rdi\n"                                                                                 \
    "  movq 8(%rsp), %rsi\n"                                                                                 \
    "  movq 16(%rsp), %rdx\n"                                                                                \
    "  movq 24(%rsp), %rcx\n"                                                                                \
    "  movq 32(%rsp), %r8\n"                                                                                 \
    "  movq 40(%rsp), %r9\n"                                                                                 \
    "  movq 48(%rsp), %rax\n"                                                                                \
    "  movq 56(%rsp), %r10\n"                                                                                \
    "  movaps 64(%rsp), %xmm0\n"                                                                             \
    "  movaps 80(%rsp), %xmm1\n"                                                                             \
    "  movaps 96(%rsp), %xmm2\n"                                                                             \
    "  movaps 112(%rsp), %xmm3\n"                                                                            \
    "  movaps 128(%rsp), %xmm4\n"                                                                            \
    "  movaps 144(%rsp), %xmm5\n"                                                                            \
    "  movaps 160(%rsp), %xmm6\n"                                                                            \
    "  movaps 176(%rsp), %xmm7\n"                                                                            \
    "  leave\n"                                                                                              \
    "  .cfi_def_cfa %rsp, 8\n"                                                                               \
    "  jmpq *%r11\n"                                                                                         \
    "  .cfi_endproc\n"
#elif defined(__aarch64__)
#define STUB                                                                                                 \
    "  hint #34\n"                                                                                           \
    "  adrp x16, stub_slots+8*stub_number\n"                                                                 \
    "  ldr x16, [x16, #:lo12:stub_slots+8*stub_number]\n"                                                    \
    "  cbz x16, 1f\n"                                                                                        \
    "  br x16\n"                                                                                             \
    "1: movz w17, #stub_number\n"                                                                            \
    "  b stubs_fill\n"
#define FILL                                                                                                 \
    "  .cfi_startproc\n"                                                                                     \
    "  stp x29, x30, [sp, #-224]!\n"                                                                         \
    "  .cfi_def_cfa_offset 224\n"                                                                            \
    "  .cfi_offset x29, -224\n"                                                                              \
    "  .cfi_offset x30, -216\n"                                                                              \
    "  mov x29, sp\n"                                                                                        \
    "  stp x0, x1, [sp, #16]\n"                                                                              \
    "  stp x2, x3, [sp, #32]\n"                                                                              \
    "  stp x4, x5, [sp, #48]\n"                                                                              \
    "  stp x6, x7, [sp, #64]\n"                                                                              \
    "  str x8, [sp, #80]\n"                                                                                  \
    "  stp q0, q1, [sp, #96]\n"                                                                              \
    "  stp q2, q3, [sp, #128]\n"                                                                             \
    "  stp q4, q5, [sp, #160]\n"                                                                             \
    "  stp q6, q7, [sp, #192]\n"                                                                             \
    "  mov w0, w17\n"                                                                                        \
    "  mov x1, x30\n"                                                                                        \
    "  bl stub_target\n"                                                                                     \
    "  mov x16, x0\n"                                                                                        \
    "  ldp x0, x1, [sp, #16]\n"                                                                              \
    "  ldp x2, x3, [sp, #32]\n"                                                                              \
    "  ldp x4, x5, [sp, #48]\n"                                                                              \
    "  ldp x6, x7, [sp, #64]\n"                                                                              \
    "  ldr x8, [sp, #80]\n"                                                                                  \
    "  ldp q0, q1, [sp, #96]\n"                                                                              \
    "  ldp q2, q3, [sp, #128]\n"                                                                             \
    "  ldp q4, q5, [sp, #160]\n"                                                                             \
    "  ldp q6, q7, [sp, #192]\n"                                                                             \
    "  ldp x29, x30, [sp], #224\n"                                                                           \
    "  .cfi_def_cfa_offset 0\n"                                                                              \
    "  .cfi_restore x29\n"                                                                                   \
    "  .cfi_restore x30\n"                                                                                   \
    "  br x16\n"                                                                                             \
    "  .cfi_endproc\n"
#else
#error "stubs.c needs the stub and stubs_fill in this processor's machine code"
#endif

/* All stubs are in one statement, because the compiler may change the order of statements. */
#define NAME(name) "  stub MPI_" #name "\n  stub PMPI_" #name "\n"
__asm__("  .macro stub name\n"
        "  .globl \\name\n"
        "  .type \\name, %function\n"
        "  .balign 32\n"
        "\\name:\n"
        "  .cfi_startproc\n" STUB "  .cfi_endproc\n"
        "  .size \\name, . - \\name\n"
        "  .set stub_number, stub_number + 1\n"
        "  .endm\n"
        "  .pushsection .text.iolens_stubs, \"ax\", %progbits\n"
        "  .set stub_number, 0\n"
        "  .type stubs_fill, %function\n"
        "stubs_fill:\n" FILL "  .size stubs_fill, . - stubs_fill\n"
        "  .globl stubs_begin\n"
        "  .hidden stubs_begin\n"
        "  .balign 32\n"
        "stubs_begin:\n"
#include "names.h"
        "  .purgem stub\n"
        "  .popsection\n");
#undef NAME
