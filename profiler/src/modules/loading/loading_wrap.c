/* dlopen and dlmopen. Libraries that are loaded with RTLD_DEEPBIND are led to the profiler; those in another
 * namespace, which have a C library of their own, are only counted.
 *
 * dlopen searches the folders that its caller names, so the real function must see the program's return
 * address: it is jumped to. Only where the caller does not matter is it called from here, and its result
 * seen. */
#if defined(__x86_64__)

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "../posix/unfollowed.h"
#include "../../runtime/wrap.h"
#include "deep_libraries.h"

#define HIDDEN __attribute__((used, visibility("hidden")))

static void *first_dlopen(const char *file, int mode);
static void *first_dlmopen(Lmid_t space, const char *file, int mode);

HIDDEN void *(*iolens_real_dlopen)(const char *, int) = first_dlopen;
HIDDEN void *(*iolens_real_dlmopen)(Lmid_t, const char *, int) = first_dlmopen;

static void *first_dlopen(const char *file, int mode)
{
    wrap_resolve("dlopen", &iolens_real_dlopen);
    return iolens_real_dlopen(file, mode);
}

static void *first_dlmopen(Lmid_t space, const char *file, int mode)
{
    wrap_resolve("dlmopen", &iolens_real_dlmopen);
    return iolens_real_dlmopen(space, file, mode);
}

__attribute__((constructor)) static void resolve(void)
{
    wrap_resolve("dlopen", &iolens_real_dlopen);
    wrap_resolve("dlmopen", &iolens_real_dlmopen);
}

/* Returns true if an object names folders of its own for the libraries that it loads. */
static bool has_run_path(const ElfW(Dyn) * entry)
{
    for (; entry && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_RPATH || entry->d_tag == DT_RUNPATH)
            return true;
    return false;
}

/* Returns true if dlopen finds the same library for every caller: a name with a slash is not searched for. */
HIDDEN bool iolens_deep_is_open(const char *file, int mode, const void *caller)
{
    Dl_info info;
    struct link_map *map = NULL;
    (void)mode;
    if (!iolens_active() || !file)
        return false;
    bool known = dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) != 0 && map;
    if (strchr(file, '$') || (!strchr(file, '/') && (!known || has_run_path(map->l_ld)))) {
        RECORDER(unfollowed_add(UNFOLLOWED_deep_libraries));
        return false;
    }
    return true;
}

HIDDEN void *iolens_deep_open(const char *file, int mode)
{
    size_t earlier = deep_libraries_count();
    void *handle = iolens_real_dlopen(file, mode);
    if (handle)
        RECORDER(deep_libraries_lead(earlier, handle));
    return handle;
}

HIDDEN void iolens_noted_space(void)
{
    if (iolens_active())
        RECORDER(unfollowed_add(UNFOLLOWED_namespaces));
}

__asm__(".pushsection .text\n"
        ".globl dlopen\n"
        ".type dlopen, @function\n"
        "dlopen:\n"
        "    testl $8, %esi\n" /* RTLD_DEEPBIND */
        "    jnz 1f\n"
        "    jmp *iolens_real_dlopen(%rip)\n"
        "1:  pushq %rdi\n"
        "    pushq %rsi\n"
        "    movq 16(%rsp), %rdx\n" /* The program's return address. */
        "    subq $8, %rsp\n"
        "    call iolens_deep_is_open\n"
        "    addq $8, %rsp\n"
        "    popq %rsi\n"
        "    popq %rdi\n"
        "    testb %al, %al\n"
        "    jnz iolens_deep_open\n"
        "    jmp *iolens_real_dlopen(%rip)\n"
        ".size dlopen, . - dlopen\n"
        ".globl dlmopen\n"
        ".type dlmopen, @function\n"
        "dlmopen:\n"
        "    testq %rdi, %rdi\n" /* LM_ID_BASE */
        "    jz 1f\n"
        "    pushq %rdi\n"
        "    pushq %rsi\n"
        "    pushq %rdx\n"
        "    call iolens_noted_space\n"
        "    popq %rdx\n"
        "    popq %rsi\n"
        "    popq %rdi\n"
        "1:  jmp *iolens_real_dlmopen(%rip)\n"
        ".size dlmopen, . - dlmopen\n"
        ".popsection\n");

#endif
