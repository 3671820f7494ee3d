/* Wraps the functions that start programs, so that a program into which this library cannot be loaded is
 * started without it. The wrappers change no memory of the process: children of vfork call them. */
#include <alloca.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "../runtime/wrap.h"
#include "../system/path.h"
#include "foreign_program.h"

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
