#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "dispatch.h"

typedef void *lookup(void *handle, const char *name);

/* The C library's dlsym; NULL until it is needed. */
extern lookup *dlsym_real __attribute__((visibility("hidden")));
lookup *dlsym_real;

/* Finds the C library's dlsym. Only dlvsym finds it, because this library has a function of that name. Since
 * glibc 2.34 the function is in another library and has a second version. */
__attribute__((used, visibility("hidden"))) lookup *dlsym_find(void)
{
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
    lookup *found = NULL;
    for (size_t i = 0; !found && i < sizeof versions / sizeof *versions; i++)
        *(void **)&found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    __atomic_store_n(&dlsym_real, found, __ATOMIC_RELAXED);
    return found;
}

void *dlsym_in(void *handle, const char *name)
{
    lookup *real = __atomic_load_n(&dlsym_real, __ATOMIC_RELAXED);
    return (real ? real : dlsym_find())(handle, name);
}

/* Returns the stub of the function; NULL if it has none. */
static void *stub_of(const char *name)
{
    bool second = *name == 'P';
    if (strncmp(name + second, "MPI_", 4) != 0)
        return NULL;
    for (int stub = second; stub < STUBS; stub += 2)
        if (strcmp(name + second + 4, stub_name((enum stub)stub)) == 0)
            return (void *)(stubs_begin + (size_t)stub * STUB_BYTES);
    return NULL;
}

__attribute__((used, visibility("hidden"))) void *dlsym_of_handle(void *handle, const char *name)
{
    void *found = dlsym_in(handle, name);
    void *stub = found ? stub_of(name) : NULL;
    return stub ? stub : found;
}

/* The symbol dlsym. The handles RTLD_DEFAULT (0) and RTLD_NEXT (-1) mean places relative to the caller, which
 * the C library finds by the return address, so that these calls must jump to its function. */
#if defined(__x86_64__)
#define DLSYM                                                                                                \
    "  endbr64\n"                                                                                            \
    "  leaq 1(%rdi), %rax\n"                                                                                 \
    "  cmpq $1, %rax\n"                                                                                      \
    "  ja dlsym_of_handle\n"                                                                                 \
    "  movq dlsym_real(%rip), %rax\n"                                                                        \
    "  testq %rax, %rax\n"                                                                                   \
    "  jne 1f\n"                                                                                             \
    "  pushq %rdi\n"                                                                                         \
    "  .cfi_adjust_cfa_offset 8\n"                                                                           \
    "  pushq %rsi\n"                                                                                         \
    "  .cfi_adjust_cfa_offset 8\n"                                                                           \
    "  subq $8, %rsp\n"                                                                                      \
    "  .cfi_adjust_cfa_offset 8\n"                                                                           \
    "  call dlsym_find\n"                                                                                    \
    "  addq $8, %rsp\n"                                                                                      \
    "  .cfi_adjust_cfa_offset -8\n"                                                                          \
    "  popq %rsi\n"                                                                                          \
    "  .cfi_adjust_cfa_offset -8\n"                                                                          \
    "  popq %rdi\n"                                                                                          \
    "  .cfi_adjust_cfa_offset -8\n"                                                                          \
    "1: jmpq *%rax\n"
#elif defined(__aarch64__)
#define DLSYM                                                                                                \
    "  hint #34\n"                                                                                           \
    "  add x16, x0, #1\n"                                                                                    \
    "  cmp x16, #1\n"                                                                                        \
    "  b.hi dlsym_of_handle\n"                                                                               \
    "  adrp x16, dlsym_real\n"                                                                               \
    "  ldr x16, [x16, #:lo12:dlsym_real]\n"                                                                  \
    "  cbnz x16, 1f\n"                                                                                       \
    "  stp x29, x30, [sp, #-32]!\n"                                                                          \
    "  .cfi_def_cfa_offset 32\n"                                                                             \
    "  .cfi_offset x29, -32\n"                                                                               \
    "  .cfi_offset x30, -24\n"                                                                               \
    "  mov x29, sp\n"                                                                                        \
    "  stp x0, x1, [sp, #16]\n"                                                                              \
    "  bl dlsym_find\n"                                                                                      \
    "  mov x16, x0\n"                                                                                        \
    "  ldp x0, x1, [sp, #16]\n"                                                                              \
    "  ldp x29, x30, [sp], #32\n"                                                                            \
    "  .cfi_def_cfa_offset 0\n"                                                                              \
    "  .cfi_restore x29\n"                                                                                   \
    "  .cfi_restore x30\n"                                                                                   \
    "1: br x16\n"
#endif
__asm__("  .pushsection .text.iolens_dlsym, \"ax\", %progbits\n"
        "  .globl dlsym\n"
        "  .type dlsym, %function\n"
        "  .balign 16\n"
        "dlsym:\n"
        "  .cfi_startproc\n" DLSYM "  .cfi_endproc\n"
        "  .size dlsym, . - dlsym\n"
        "  .popsection\n");
