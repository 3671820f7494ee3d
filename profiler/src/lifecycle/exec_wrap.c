/* Wraps the functions that start programs, so that a program into which this library cannot be loaded is
 * started without it. The wrappers change no memory of the process: children of vfork call them. */
#include <alloca.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../runtime/wrap.h"
#include "../system/path.h"
#include "../system/say.h"
#include "../system/system_call.h"

/* Finds programs into which this library cannot be loaded, and the environment that they must get: the loader
 * of another C library stops at a preloaded library that it cannot link. */

enum { START_BYTES = 1024, LEVELS = 4, NAME_BYTES = 256 };

static const char VARIABLE[] = "LD_PRELOAD=";
static const char *const OWN[] = {"libiolens", "libost"};

/* Machine that this library is built for. */
#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { MACHINE = EM_AARCH64 };
#elif defined(__powerpc64__)
enum { MACHINE = EM_PPC64 };
#else
enum { MACHINE = EM_NONE };
#endif

/* Returns the value of LD_PRELOAD in an environment, or NULL. */
static const char *preload_in(char *const environment[])
{
    for (char *const *variable = environment; variable && *variable; variable++)
        if (strncmp(*variable, VARIABLE, sizeof VARIABLE - 1) == 0)
            return *variable + sizeof VARIABLE - 1;
    return NULL;
}

static size_t word_length(const char *word) { return strcspn(word, ": "); }

/* Returns true if a word of LD_PRELOAD is a library of the profiler. */
static bool is_own(const char *word, size_t length)
{
    const char *name = word;
    for (size_t i = 0; i < length; i++)
        if (word[i] == '/')
            name = word + i + 1;
    for (size_t i = 0; i < sizeof OWN / sizeof *OWN; i++)
        if (strncmp(name, OWN[i], strlen(OWN[i])) == 0)
            return true;
    return false;
}

static bool has_own(const char *preload)
{
    for (const char *word = preload; word && *word; word += word_length(word), word += *word != '\0')
        if (is_own(word, word_length(word)))
            return true;
    return false;
}

static bool read_at(int fd, void *bytes, size_t count, uint64_t offset)
{
    return system_call(SYS_pread64, fd, bytes, count, (off_t)offset) == (long)count;
}

static bool is_musl(const char *loader)
{
    const char *slash = strrchr(loader, '/');
    return strncmp(slash ? slash + 1 : loader, "ld-musl", sizeof "ld-musl" - 1) == 0;
}

/* Reads the name of a program's loader; returns false for a static program. */
static bool read_loader(int fd, const ElfW(Ehdr) * header, char name[NAME_BYTES])
{
    for (unsigned i = 0; i < header->e_phnum; i++) {
        ElfW(Phdr) part;
        if (!read_at(fd, &part, sizeof part, header->e_phoff + i * sizeof part))
            return false;
        if (part.p_type != PT_INTERP)
            continue;
        size_t bytes = part.p_filesz < NAME_BYTES ? part.p_filesz : NAME_BYTES - 1;
        name[bytes] = '\0';
        return read_at(fd, name, bytes, part.p_offset);
    }
    return false;
}

/* Returns true if the program may not preload this library. */
static bool is_foreign(int fd, const char *path, const char *start)
{
    char loader[NAME_BYTES];
    ElfW(Ehdr) header;
    memcpy(&header, start, sizeof header);
    bool other_machine = header.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
                         header.e_machine != MACHINE;
    if (MACHINE != EM_NONE && other_machine)
        return true;
    return is_musl(path) ||
           (header.e_phentsize == sizeof(ElfW(Phdr)) && read_loader(fd, &header, loader) && is_musl(loader));
}

/* Copies the name of a script's interpreter from the script's first line. */
static void read_interpreter(char name[NAME_BYTES], const char *start)
{
    const char *from = start + 2 + strspn(start + 2, " \t");
    size_t length = strcspn(from, " \t\n");
    length = length < NAME_BYTES ? length : 0;
    memcpy(name, from, length);
    name[length] = '\0';
}

/* Returns true if this environment preloads the profiler and `path` is a program of musl or of another kind
 * of processor, or a script for one. Reads the file. Changes no memory of the process, because the caller may
 * be a child of vfork. */
static bool foreign_program(const char *path, char *const environment[])
{
    char start[START_BYTES + 1], name[NAME_BYTES];
    if (!path || !has_own(preload_in(environment)))
        return false;
    for (int level = 0; level < LEVELS; level++) {
        int fd =
            (int)system_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0);
        long bytes = fd >= 0 ? system_call(SYS_pread64, fd, start, (long)START_BYTES, 0L) : 0;
        start[bytes > 0 ? bytes : 0] = '\0';
        bool program = bytes >= (long)sizeof(ElfW(Ehdr)) && memcmp(start, ELFMAG, SELFMAG) == 0;
        bool foreign = program && is_foreign(fd, path, start);
        if (fd >= 0)
            system_call(SYS_close, fd);
        if (program || bytes < 2 || memcmp(start, "#!", 2) != 0)
            return foreign;
        read_interpreter(name, start);
        path = name;
    }
    return false;
}

/* Finds the file that a program's name means, by PATH, as execvp does; returns false if there is none. */
static bool foreign_find(char *path, size_t size, const char *name)
{
    const char *folders = getenv("PATH");
    if (strchr(name, '/'))
        return snprintf(path, size, "%s", name) < (int)size;
    for (const char *folder = folders ? folders : "/bin:/usr/bin";;) {
        size_t length = strcspn(folder, ":");
        bool fits =
            snprintf(path, size, "%.*s%s%s", (int)length, folder, length > 0 ? "/" : "", name) < (int)size;
        if (fits && system_call(SYS_faccessat, AT_FDCWD, path, X_OK) == 0)
            return true;
        if (folder[length] == '\0')
            return false;
        folder += length + 1;
    }
}

/* Writes a path to the file that execveat means; returns false if there is none. */
static bool foreign_below(char *path, size_t size, int folder, const char *name)
{
    if (!name)
        return false;
    if (name[0] == '/' || folder == AT_FDCWD)
        return snprintf(path, size, "%s", name) < (int)size;
    return snprintf(path, size, "/proc/self/fd/%d%s%s", folder, name[0] ? "/" : "", name) < (int)size;
}

/* Returns the number of variables, the closing NULL included. */
static size_t foreign_count(char *const environment[])
{
    size_t count = 1;
    while (environment && environment[count - 1])
        count++;
    return count;
}

/* Copies the environment without the profiler's libraries. `preload` has room for the value of LD_PRELOAD in
 * it (foreign_preload_bytes). */
static size_t foreign_preload_bytes(char *const environment[])
{
    const char *preload = preload_in(environment);
    return sizeof VARIABLE + (preload ? strlen(preload) : 0) + 1;
}

static void foreign_environment(char **copy, char *preload, char *const environment[])
{
    size_t count = 0, used = sizeof VARIABLE - 1;
    memcpy(preload, VARIABLE, sizeof VARIABLE);
    for (const char *word = preload_in(environment); word && *word;) {
        size_t length = word_length(word);
        if (length > 0 && !is_own(word, length)) {
            memcpy(preload + used, word, length);
            preload[used + length] = ':';
            used += length + 1;
        }
        word += length + (word[length] != '\0');
    }
    preload[used] = '\0';
    for (; *environment; environment++)
        if (strncmp(*environment, VARIABLE, sizeof VARIABLE - 1) != 0)
            copy[count++] = *environment;
        else if (used > sizeof VARIABLE - 1)
            copy[count++] = preload;
    copy[count] = NULL;
}

/* True if a program was said to be foreign; in memory that forked children share. */
static atomic_bool *said;

__attribute__((constructor)) static void share(void)
{
    long page =
        system_call(SYS_mmap, NULL, sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0L);
    said = page == -1 ? NULL : (atomic_bool *)page;
}

/* Says, once in a process and its forked children, that a program is not recorded. */
static void foreign_say(const char *path)
{
    if (!said || !atomic_exchange(said, true))
        iolens_say("%s is a program of another C library (musl) or another kind of processor, into which the "
                   "profiler cannot be loaded; it runs as it is, and is not recorded",
                   path);
}

static __typeof__(&execve) real_execve;
static __typeof__(&execv) real_execv;
static __typeof__(&execvp) real_execvp;
static __typeof__(&execvpe) real_execvpe;
static __typeof__(&execveat) real_execveat;
static __typeof__(&fexecve) real_fexecve;
static __typeof__(&posix_spawn) real_posix_spawn;
static __typeof__(&posix_spawnp) real_posix_spawnp;

static void resolve(void)
{
    (void)&REAL(execve);
    (void)&REAL(execv);
    (void)&REAL(execvp);
    (void)&REAL(execvpe);
    (void)&REAL(execveat);
    (void)&REAL(fexecve);
    (void)&REAL(posix_spawn);
    (void)&REAL(posix_spawnp);
}

__attribute__((constructor)) static void await_handlers(void) { wrap_resolve_for_handlers(resolve); }

/* Replaces `environment` by one without the profiler if the program is foreign. The copy lies on the stack of
 * the calling function. */
#define CHECK(path, environment)                                                                             \
    do {                                                                                                     \
        if (!foreign_program(path, environment))                                                             \
            break;                                                                                           \
        foreign_say(path);                                                                                   \
        char **copy = alloca(foreign_count(environment) * sizeof *copy);                                     \
        foreign_environment(copy, alloca(foreign_preload_bytes(environment)), environment);                  \
        environment = copy;                                                                                  \
    } while (0)

static int run(const char *path, char *const words[], char *const environment[])
{
    CHECK(path, environment);
    return REAL(execve)(path, words, environment);
}

static int run_here(const char *path, char *const words[])
{
    char *const *environment = environ;
    CHECK(path, environment);
    return environment == environ ? REAL(execv)(path, words) : REAL(execve)(path, words, environment);
}

static int run_found(const char *name, char *const words[])
{
    char path[PATH_BYTES];
    char *const *environment = environ;
    if (foreign_find(path, sizeof path, name))
        CHECK(path, environment);
    return environment == environ ? REAL(execvp)(name, words) : REAL(execvpe)(name, words, environment);
}

IOLENS_EXPORT int execve(const char *path, char *const words[], char *const environment[])
{
    return run(path, words, environment);
}

IOLENS_EXPORT int execv(const char *path, char *const words[]) { return run_here(path, words); }

IOLENS_EXPORT int execvp(const char *name, char *const words[]) { return run_found(name, words); }

IOLENS_EXPORT int execvpe(const char *name, char *const words[], char *const environment[])
{
    char path[PATH_BYTES];
    if (foreign_find(path, sizeof path, name))
        CHECK(path, environment);
    return REAL(execvpe)(name, words, environment);
}

IOLENS_EXPORT int fexecve(int fd, char *const words[], char *const environment[])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    CHECK(path, environment);
    return REAL(fexecve)(fd, words, environment);
}

IOLENS_EXPORT int execveat(int folder, const char *name, char *const words[], char *const environment[],
                           int flags)
{
    char path[PATH_BYTES];
    if (foreign_below(path, sizeof path, folder, name))
        CHECK(path, environment);
    return REAL(execveat)(folder, name, words, environment, flags);
}

IOLENS_EXPORT int posix_spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
                              const posix_spawnattr_t *attributes, char *const words[],
                              char *const environment[])
{
    CHECK(path, environment);
    return REAL(posix_spawn)(child, path, actions, attributes, words, environment);
}

IOLENS_EXPORT int posix_spawnp(pid_t *child, const char *name, const posix_spawn_file_actions_t *actions,
                               const posix_spawnattr_t *attributes, char *const words[],
                               char *const environment[])
{
    char path[PATH_BYTES];
    if (foreign_find(path, sizeof path, name))
        CHECK(path, environment);
    return REAL(posix_spawnp)(child, name, actions, attributes, words, environment);
}

/* Collects the words of an execl behind the first one, up to the closing NULL. */
#define WORDS(words, first, list)                                                                            \
    size_t count = 1;                                                                                        \
    va_start(list, first);                                                                                   \
    while (va_arg(list, const char *))                                                                       \
        count++;                                                                                             \
    va_end(list);                                                                                            \
    char **words = alloca((count + 1) * sizeof *words);                                                      \
    va_start(list, first);                                                                                   \
    words[0] = (char *)first;                                                                                \
    for (size_t i = 1; i <= count; i++)                                                                      \
    words[i] = va_arg(list, char *)

IOLENS_EXPORT int execl(const char *path, const char *first, ...)
{
    va_list list;
    WORDS(words, first, list);
    va_end(list);
    return run_here(path, words);
}

IOLENS_EXPORT int execlp(const char *name, const char *first, ...)
{
    va_list list;
    WORDS(words, first, list);
    va_end(list);
    return run_found(name, words);
}

IOLENS_EXPORT int execle(const char *path, const char *first, ...)
{
    va_list list;
    WORDS(words, first, list);
    char *const *environment = va_arg(list, char *const *);
    va_end(list);
    return run(path, words, environment);
}
