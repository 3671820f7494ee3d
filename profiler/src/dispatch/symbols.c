#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dispatch.h"

#if __ELF_NATIVE_CLASS == 64
#define SYMBOL_OF(info) ELF64_R_SYM(info)
#else
#define SYMBOL_OF(info) ELF32_R_SYM(info)
#endif

/* Number of a hash table's numbers in a word of its filter. */
enum { WORDS = sizeof(ElfW(Addr)) / sizeof(uint32_t) };

/* The dynamic section of a loaded object. `hash` is its GNU hash table, whose first words are explained in
 * symbols_counted. */
struct object {
    const struct dl_phdr_info *info;
    ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *hash;
    const ElfW(Rela) * tables[2];
    size_t bytes[2];
};

/* A range of memory whose protection is changed for writing: whole pages, and the protection to restore. */
struct pages {
    void *begin;
    size_t bytes;
    int protection;
};

static const ElfW(Phdr) * segment_of(const struct dl_phdr_info *info, ElfW(Word) type, uintptr_t address)
{
    for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == type && address - (info->dlpi_addr + segment->p_vaddr) < segment->p_memsz)
            return segment;
    }
    return NULL;
}

/* Makes `bytes` at `address` writable. Returns false if that is refused; `pages` has no bytes if nothing had
 * to be changed. */
static bool open_pages(const struct dl_phdr_info *info, const void *address, size_t bytes,
                       struct pages *pages)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)address, begin = at & -page;
    const ElfW(Phdr) *loaded = segment_of(info, PT_LOAD, at);
    bool writable = loaded && loaded->p_flags & PF_W;
    *pages = (struct pages){(void *)begin, at + bytes - begin, PROT_READ};
    if (writable && !segment_of(info, PT_GNU_RELRO, at))
        pages->bytes = 0;
    if (loaded && loaded->p_flags & PF_X)
        pages->protection |= PROT_EXEC;
    return pages->bytes == 0 || mprotect(pages->begin, pages->bytes, PROT_READ | PROT_WRITE) == 0;
}

static void close_pages(const struct pages *pages)
{
    if (pages->bytes > 0)
        mprotect(pages->begin, pages->bytes, pages->protection);
}

/* Returns an address of the dynamic section. The loader of glibc has added the object's base to it, except in
 * sections that it cannot write to. */
static uintptr_t address_of(const struct dl_phdr_info *info, const ElfW(Dyn) * entry)
{
    uintptr_t value = entry->d_un.d_ptr;
    return value < info->dlpi_addr ? value + info->dlpi_addr : value;
}

static void take_entry(struct object *object, const ElfW(Dyn) * entry)
{
    uintptr_t address = address_of(object->info, entry);
    switch (entry->d_tag) {
    case DT_SYMTAB:
        object->symbols = (ElfW(Sym) *)address;
        break;
    case DT_STRTAB:
        object->strings = (const char *)address;
        break;
    case DT_GNU_HASH:
        object->hash = (const uint32_t *)address;
        break;
    case DT_RELA:
        object->tables[0] = (const ElfW(Rela) *)address;
        break;
    case DT_RELASZ:
        object->bytes[0] = entry->d_un.d_val;
        break;
    case DT_JMPREL:
        object->tables[1] = (const ElfW(Rela) *)address;
        break;
    case DT_PLTRELSZ:
        object->bytes[1] = entry->d_un.d_val;
        break;
    default:
        break;
    }
}

static struct object object_of(const struct dl_phdr_info *info)
{
    struct object object = {.info = info};
    for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_DYNAMIC)
            continue;
        const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        for (; entry->d_tag != DT_NULL; entry++)
            take_entry(&object, entry);
    }
    return object;
}

/* Returns true if the hash table holds no symbol. It then does not tell how many symbols the object has. */
static bool is_empty(const uint32_t *hash) { return hash[0] == 1 && hash[4 + hash[2] * WORDS] == 0; }

static bool is_weak_mpi(const struct object *object, const ElfW(Sym) * symbol)
{
    const char *name = object->strings + symbol->st_name;
    return symbol->st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) == STB_WEAK &&
           strncmp(name + (*name == 'P'), "MPI_", 4) == 0;
}

/* Returns the number of the stub that begins at an address; STUBS if there is none. */
static size_t stub_at(uintptr_t address)
{
    uintptr_t distance = address - (uintptr_t)stubs_begin;
    return distance < (uintptr_t)STUBS * STUB_BYTES ? distance / STUB_BYTES : STUBS;
}

static void forget_relocation(const struct object *object, const ElfW(Rela) * relocation,
                              const bool absent[STUBS])
{
    struct pages pages;
    size_t symbol = SYMBOL_OF(relocation->r_info);
    if (symbol == 0)
        return;
    uintptr_t *place = (uintptr_t *)(object->info->dlpi_addr + relocation->r_offset);
    size_t stub = stub_at(*place);
    if (stub == STUBS || !absent[stub] || !is_weak_mpi(object, &object->symbols[symbol]) ||
        !open_pages(object->info, place, sizeof *place, &pages))
        return;
    *place = 0;
    close_pages(&pages);
}

/* Returns false if the object surely has no weak references to MPI: all symbols to which it refers stand
 * before those in its hash table, and are few. */
static bool may_refer_weakly(const struct object *object)
{
    if (!object->symbols || !object->strings)
        return false;
    if (!object->hash || is_empty(object->hash))
        return true;
    for (size_t i = 1; i < object->hash[1]; i++)
        if (is_weak_mpi(object, &object->symbols[i]))
            return true;
    return false;
}

static int forget_in(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct object object = object_of(info);
    bool any = may_refer_weakly(&object);
    for (int t = 0; any && t < 2; t++)
        for (size_t r = 0; object.tables[t] && r < object.bytes[t] / sizeof(ElfW(Rela)); r++)
            forget_relocation(&object, &object.tables[t][r], context);
    return 0;
}

void symbols_forget(const bool absent[STUBS]) { dl_iterate_phdr(forget_in, (void *)absent); }

/* Returns the number of all symbols of an object: the GNU hash table has the number of its buckets, the first
 * symbol in it, and the number of words in a filter, which precedes the buckets; in the last chain, which
 * begins at the largest bucket, an odd number marks the last symbol. */
static size_t symbols_counted(const struct object *object)
{
    const uint32_t *hash = object->hash;
    uint32_t buckets = hash[0], first = hash[1], last = 0;
    const uint32_t *bucket = hash + 4 + hash[2] * WORDS;
    for (uint32_t i = 0; i < buckets; i++)
        last = bucket[i] > last ? bucket[i] : last;
    if (last < first)
        return first;
    for (const uint32_t *chain = bucket + buckets; !(chain[last - first] & 1); last++)
        ;
    return last + 1;
}

static int hide_in(struct dl_phdr_info *info, size_t size, void *context)
{
    const bool *absent = context;
    struct pages pages;
    (void)size;
    if (!segment_of(info, PT_LOAD, (uintptr_t)stubs_begin))
        return 0;
    struct object object = object_of(info);
    size_t count = object.hash && object.symbols ? symbols_counted(&object) : 0;
    if (count == 0 || !open_pages(info, object.symbols, count * sizeof *object.symbols, &pages))
        return 1;
    for (size_t i = 0; i < count; i++) {
        ElfW(Sym) *symbol = &object.symbols[i];
        size_t stub = symbol->st_shndx == SHN_UNDEF ? STUBS : stub_at(info->dlpi_addr + symbol->st_value);
        if (stub == STUBS || !absent[stub])
            continue;
        symbol->st_value = 0;
        symbol->st_shndx = SHN_UNDEF;
    }
    close_pages(&pages);
    return 1;
}

void symbols_hide(const bool absent[STUBS]) { dl_iterate_phdr(hide_in, (void *)absent); }
