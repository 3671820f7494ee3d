#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

#include "threads.h"

/* First and last address of this library in memory, defined by the linker. */
extern const char __ehdr_start[] __attribute__((visibility("hidden"))),
    _end[] __attribute__((visibility("hidden")));

static bool is_our_own(const void *function)
{
    return (const char *)function >= __ehdr_start && (const char *)function < _end;
}

/* Returns true if the program itself defines a function of the C library. A program that only takes the
 * address of such a function has an undefined entry for it, which does not count. Functions of this library
 * are excluded first, because dladdr1 would search all its names for them. */
static bool defined_by_the_program(const char *name)
{
    Dl_info function, program;
    const ElfW(Sym) *entry = NULL;
    void *at = dlsym(RTLD_DEFAULT, name);
    return at && !is_our_own(at) && dladdr1(at, &function, (void **)&entry, RTLD_DL_SYMENT) &&
           dladdr((void *)getauxval(AT_ENTRY), &program) && function.dli_fbase == program.dli_fbase &&
           entry && entry->st_shndx != SHN_UNDEF;
}

/* Returns true if the program was built with ThreadSanitizer. A program with a built-in sanitizer may hide
 * its own names, but not the functions that the sanitizer replaces. AddressSanitizer replaces them too, and
 * its programs may be interrupted. */
bool has_thread_sanitizer(void)
{
    return dlsym(RTLD_DEFAULT, "__tsan_init") ||
           (defined_by_the_program("pthread_create") && !dlsym(RTLD_DEFAULT, "__asan_init"));
}
