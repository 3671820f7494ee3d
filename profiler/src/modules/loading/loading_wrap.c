/* dlopen and dlmopen. Libraries that are loaded with RTLD_DEEPBIND are led to the profiler; those in another
 * namespace, which have a C library of their own, are only counted.
 *
 * dlopen searches the folders that its caller names, so the real function must see the program's return
 * address: it is jumped to. Only where the caller does not matter is it called from here, and its result
 * seen. */
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "../../memory/arena.h"
#include "../../next_symbol.h"
#include "../../runtime/wrap.h"
#include "../../system/system_call.h"
#include "../posix/unfollowed.h"

/* Leads the calls of libraries that are loaded with RTLD_DEEPBIND to the profiler. The loader binds such a
 * library to the C library directly, past every preloaded library. */

enum { PAGE = 4096 };

#if defined(__x86_64__)
enum { SLOT = R_X86_64_JUMP_SLOT, POINTER = R_X86_64_GLOB_DAT, WORD = R_X86_64_64 };
#elif defined(__aarch64__)
enum { SLOT = R_AARCH64_JUMP_SLOT, POINTER = R_AARCH64_GLOB_DAT, WORD = R_AARCH64_ABS64 };
#else
enum { SLOT = -1, POINTER = -1, WORD = -1 };
#endif

/* The parts of a loaded object that its bindings are found with. */
struct bindings {
    uintptr_t base, relro_begin, relro_end;
    const ElfW(Sym) * symbols;
    const char *names;
    const ElfW(Rela) * tables[2];
    size_t bytes[2];
};

/* The new objects, which are copied here first: the loader's list is locked while it is walked, and the
 * functions that look for symbols take locks of the loader, too. */
struct walk {
    size_t count, first, room;
    struct bindings *found;
};

static int count_object(struct dl_phdr_info *info, size_t bytes, void *context)
{
    (void)info;
    (void)bytes;
    ++*(size_t *)context;
    return 0;
}

/* Returns the number of loaded objects. */
static size_t deep_libraries_count(void)
{
    size_t count = 0;
    dl_iterate_phdr(count_object, &count);
    return count;
}

/* Returns an address of the dynamic section, which the loader may have relocated already. */
static uintptr_t placed(const struct bindings *object, uintptr_t address)
{
    return address < object->base ? address + object->base : address;
}

static void read_entry(struct bindings *object, const ElfW(Dyn) * entry)
{
    uintptr_t at = placed(object, entry->d_un.d_ptr);
    switch (entry->d_tag) {
    case DT_SYMTAB:
        object->symbols = (const void *)at;
        break;
    case DT_STRTAB:
        object->names = (const char *)at;
        break;
    case DT_JMPREL:
        object->tables[0] = (const void *)at;
        break;
    case DT_RELA:
        object->tables[1] = (const void *)at;
        break;
    case DT_PLTRELSZ:
        object->bytes[0] = entry->d_un.d_val;
        break;
    case DT_RELASZ:
        object->bytes[1] = entry->d_un.d_val;
        break;
    default:
        break;
    }
}

static struct bindings read_bindings(const struct dl_phdr_info *info)
{
    struct bindings object = {.base = info->dlpi_addr};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        const ElfW(Dyn) *entry = (const void *)(object.base + part->p_vaddr);
        if (part->p_type == PT_GNU_RELRO) {
            object.relro_begin = object.base + part->p_vaddr;
            object.relro_end = object.relro_begin + part->p_memsz;
        }
        for (; part->p_type == PT_DYNAMIC && entry->d_tag != DT_NULL; entry++)
            read_entry(&object, entry);
    }
    return object;
}

static const char *object_of(const void *function, const void **base)
{
    Dl_info info;
    if (!function || !dladdr(function, &info) || !info.dli_fname)
        return NULL;
    const char *slash = strrchr(info.dli_fname, '/');
    *base = info.dli_fbase;
    return slash ? slash + 1 : info.dli_fname;
}

/* Returns the function of the preloaded libraries to which a name must lead; NULL if it must stay, because no
 * preloaded library of the profiler has it, or because the library would bind it to another function than the
 * one behind the wrapper. */
static void *wrapper_of(const char *name, void *handle)
{
    const void *wrapper_base = NULL, *bound_base = NULL, *next_base = NULL;
    void *wrapper = dlsym(RTLD_DEFAULT, name);
    const char *owner = object_of(wrapper, &wrapper_base);
    if (!owner || (strncmp(owner, "libiolens", 9) != 0 && strncmp(owner, "libost", 6) != 0))
        return NULL;
    object_of(dlsym(handle, name), &bound_base);
    object_of(next_symbol(name), &next_base);
    return bound_base && bound_base == next_base ? wrapper : NULL;
}

/* Writes a slot. Slots that the loader has made read-only are made writable meanwhile. */
static bool write_slot(const struct bindings *object, uintptr_t *slot, const void *function)
{
    uintptr_t at = (uintptr_t)slot, page = at & ~(uintptr_t)(PAGE - 1);
    bool sealed = at >= object->relro_begin && at < object->relro_end;
    if (sealed && system_call(SYS_mprotect, page, (size_t)PAGE, PROT_READ | PROT_WRITE) != 0)
        return false;
    __atomic_store_n(slot, (uintptr_t)function, __ATOMIC_RELEASE);
    if (sealed)
        system_call(SYS_mprotect, page, (size_t)PAGE, PROT_READ);
    return true;
}

static void lead(const struct bindings *object, void *handle, const ElfW(Rela) * entry)
{
    int kind = (int)ELF64_R_TYPE(entry->r_info);
    const ElfW(Sym) *symbol = &object->symbols[ELF64_R_SYM(entry->r_info)];
    uintptr_t *slot = (uintptr_t *)(object->base + entry->r_offset);
    if ((kind != SLOT && kind != POINTER && (kind != WORD || entry->r_addend != 0)) ||
        symbol->st_shndx != SHN_UNDEF || symbol->st_name == 0)
        return;
    const void *wrapper = wrapper_of(object->names + symbol->st_name, handle);
    if (wrapper && *slot != (uintptr_t)wrapper && !write_slot(object, slot, wrapper))
        unfollowed_add(UNFOLLOWED_deep_libraries);
}

static int copy_object(struct dl_phdr_info *info, size_t bytes, void *context)
{
    struct walk *walk = context;
    (void)bytes;
    if (walk->count >= walk->first && walk->count - walk->first < walk->room)
        walk->found[walk->count - walk->first] = read_bindings(info);
    walk->count++;
    return 0;
}

static void lead_all(const struct bindings *object, void *handle)
{
    for (int table = 0; object->symbols && object->names && table < 2; table++)
        for (size_t i = 0; object->tables[table] && i < object->bytes[table] / sizeof(ElfW(Rela)); i++)
            lead(object, handle, &object->tables[table][i]);
}

/* Leads the calls of the objects from number `first` on, which came with the library `handle`. A function
 * that the library or one of its own libraries defines stays as it is. */
static void deep_libraries_lead(size_t first, void *handle)
{
    size_t count = deep_libraries_count(), room = count > first ? count - first : 0;
    struct bindings *found = room > 0 ? pages_alloc(room * sizeof *found) : NULL;
    if (!found)
        return;
    struct walk walk = {.first = first, .room = room, .found = found};
    dl_iterate_phdr(copy_object, &walk);
    for (size_t i = 0; i < room; i++)
        lead_all(&found[i], handle);
    pages_free(found, room * sizeof *found);
}

#if defined(__x86_64__)

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
