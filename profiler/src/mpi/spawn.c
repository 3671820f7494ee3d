/* MPI_Comm_spawn: records the spawned programs as a job of their own. A launcher starts them with its own
 * environment, not with that of the caller, so the preload chain is passed on by the command `env`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core.h"
#include "links.h"
#include "traced.h"
#include "wrap.h"

/* Writes the arguments with which `env` starts the same program that MPI_Comm_spawn would start. */

#define SPAWN_NAME_BYTES 4096

/* Returns true for an executable file that is no folder. Uses access, because stat is a wrapped function. */
static bool is_program(const char *folder, size_t length, const char *name)
{
    char path[SPAWN_NAME_BYTES], as_folder[SPAWN_NAME_BYTES];
    int written = snprintf(as_folder, sizeof as_folder, "%.*s/%s/.", (int)length, folder, name);
    snprintf(path, sizeof path, "%.*s/%s", (int)length, folder, name);
    return written < (int)sizeof as_folder && access(path, X_OK) == 0 && access(as_folder, F_OK) != 0;
}

/* Returns true if a folder of PATH has this program. An empty part of PATH stands for the current folder. */
static bool in_search_path(const char *name)
{
    for (const char *at = getenv("PATH"); at;) {
        size_t length = strcspn(at, ":");
        if (is_program(length ? at : ".", length ? length : 1, name))
            return true;
        at = at[length] ? at + length + 1 : NULL;
    }
    return false;
}

static bool given(MPI_Info info, char *key, char *value)
{
    int found = 0;
    return info != mpi.info_null &&
           pmpi.Info_get(info, key, MPI_MAX_INFO_VAL, value, &found) == MPI_SUCCESS && found;
}

/* Writes to `name` the form of `command` that `env` understands. Returns false if `env` would find no program
 * here, or another one; MPI then starts the program itself or reports the error. For a name without
 * a slash MPI libraries also search the folder in which the program will run; `env` does not. */
static bool spawn_name(const char *command, MPI_Info info, char *name, size_t bytes)
{
    char folder[MPI_MAX_INFO_VAL + 1] = ".", searched[MPI_MAX_INFO_VAL + 1];
    bool has_slash = strchr(command, '/');
    given(info, "wdir", folder);
    if (!has_slash && given(info, "path", searched))
        return false;
    bool as_it_is = command[0] == '/' ? is_program("", 0, command + 1)
                    : has_slash       ? is_program(folder, strlen(folder), command)
                                      : in_search_path(command);
    bool here = !as_it_is && !has_slash && is_program(folder, strlen(folder), command);
    return (as_it_is || here) && snprintf(name, bytes, "%s%s", here ? "./" : "", command) < (int)bytes;
}

extern char **environ;

static char env[] = "env";

/* Returns true for the variables of the profiler that are passed on: all except the full name of a log,
 * which belongs to this job. */
static bool goes_along(const char *variable)
{
    static const char *const beginnings[] = {"LD_PRELOAD=", "IOLENS_", "DARSHAN_", "DXT_"};
    const char *name = strchr(variable, '_');
    if (name && strncmp(name, "_LOGFILE=", 9) == 0)
        return false;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(variable, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* Returns the arguments with which `env` starts the command; the caller frees them. Returns NULL if there is
 * no variable to pass on, or if `env` would not find the program. */
static char **enclosed(const char *command, char **argv, MPI_Info info)
{
    char name[SPAWN_NAME_BYTES];
    size_t words = 2, at = 0;
    if (!spawn_name(command, info, name, sizeof name))
        return NULL;
    for (char **word = environ; word && *word; word++)
        words += goes_along(*word);
    for (char **word = argv; word && *word; word++)
        words++;
    char **all = heap_take(words * sizeof *all + strlen(name) + 1);
    if (!all)
        return NULL;
    char *kept = strcpy((char *)(all + words), name);
    for (char **word = environ; word && *word; word++)
        if (goes_along(*word))
            all[at++] = *word;
    all[at++] = kept;
    for (char **word = argv; word && *word; word++)
        all[at++] = *word;
    all[at] = NULL;
    return all;
}

/* Returns true in the rank whose arguments MPI uses to start processes; other ranks may pass anything. */
static bool decides(handle comm, int root)
{
    int rank = -1;
    return mpi_active() && pmpi.Comm_rank((MPI_Comm)comm, &rank) == MPI_SUCCESS && rank == root;
}

/* Counts the call as an MPI call if MPI is traced, and records that all ranks of `comm` take part in it. */
static void begin(struct iolens_mpi_call *call)
{
    bool counts = mpi_active() && traced_what;
    call->t0 = counts ? link_start() : -1;
}

static void end(struct iolens_mpi_call *call, handle comm, int code)
{
    if (call->t0 < 0)
        return;
    call->t1 = iolens_now();
    if (code == MPI_SUCCESS)
        link_all(call, (MPI_Comm)comm);
    iolens_mpi_call(call);
    iolens_spend(iolens_spent(), call->t1 - call->t0);
}

#define SPAWN(symbol, wide, which)                                                                           \
    IOLENS_EXPORT int wide(char *command, char **argv, int count, handle info, int root, handle comm,        \
                           void *both, int *errors) __asm__(symbol);                                         \
    int wide(char *command, char **argv, int count, handle info, int root, handle comm, void *both,          \
             int *errors)                                                                                    \
    {                                                                                                        \
        struct iolens_mpi_call call = {.function = IOLENS_MPI_##which,                                       \
                                       .caller = (uintptr_t)__builtin_return_address(0)};                    \
        char **words = decides(comm, root) ? enclosed(command, argv, (MPI_Info)info) : NULL;                 \
        begin(&call);                                                                                        \
        mpi_depth++;                                                                                         \
        int code =                                                                                           \
            CALL_REAL(symbol, wide,                                                                          \
                      (words ? env : command, words ? words : argv, count, info, root, comm, both, errors)); \
        end(&call, comm, code);                                                                              \
        mpi_depth--;                                                                                         \
        heap_give_back(words);                                                                               \
        return code;                                                                                         \
    }

SPAWN("MPI_Comm_spawn", wide_Comm_spawn, Comm_spawn)
SPAWN("PMPI_Comm_spawn", wide_PComm_spawn, Comm_spawn)

/* The changed arguments of a call that starts several commands, each of which has arguments of its own. */
struct enclosure {
    char **commands, ***argvs;
    int count;
};

static void release(struct enclosure *made)
{
    for (int i = 0; made->argvs && i < made->count; i++)
        heap_give_back(made->argvs[i]);
    heap_give_back(made->argvs);
    heap_give_back(made->commands);
    *made = (struct enclosure){0};
}

static struct enclosure enclose_all(int count, char **commands, char ***argvs, const MPI_Info *infos)
{
    size_t places = count > 0 ? (size_t)count : 1;
    struct enclosure made = {heap_take_zeroed(places, sizeof *made.commands),
                             heap_take_zeroed(places, sizeof *made.argvs), count};
    bool complete = made.commands && made.argvs;
    for (int i = 0; complete && i < count; i++) {
        made.commands[i] = env;
        made.argvs[i] = enclosed(commands[i], argvs ? argvs[i] : NULL, infos[i]);
        complete = made.argvs[i];
    }
    if (!complete)
        release(&made);
    return made;
}

#define SPAWN_MULTIPLE(symbol, wide, which)                                                                  \
    IOLENS_EXPORT int wide(int count, char **commands, char ***argvs, const int *counts, const void *infos,  \
                           int root, handle comm, void *both, int *errors) __asm__(symbol);                  \
    int wide(int count, char **commands, char ***argvs, const int *counts, const void *infos, int root,      \
             handle comm, void *both, int *errors)                                                           \
    {                                                                                                        \
        struct iolens_mpi_call call = {.function = IOLENS_MPI_##which,                                       \
                                       .caller = (uintptr_t)__builtin_return_address(0)};                    \
        struct enclosure made = {0};                                                                         \
        if (decides(comm, root))                                                                             \
            made = enclose_all(count, commands, argvs, infos);                                               \
        begin(&call);                                                                                        \
        mpi_depth++;                                                                                         \
        int code = CALL_REAL(symbol, wide,                                                                   \
                             (count, made.commands ? made.commands : commands,                               \
                              made.argvs ? made.argvs : argvs, counts, infos, root, comm, both, errors));    \
        end(&call, comm, code);                                                                              \
        mpi_depth--;                                                                                         \
        release(&made);                                                                                      \
        return code;                                                                                         \
    }

SPAWN_MULTIPLE("MPI_Comm_spawn_multiple", wide_Comm_spawn_multiple, Comm_spawn_multiple)
SPAWN_MULTIPLE("PMPI_Comm_spawn_multiple", wide_PComm_spawn_multiple, Comm_spawn_multiple)
