#include "spawn_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Writes the name by which `env` finds the program that MPI would start; returns false if there is none. For
 * a name without a slash MPI libraries also search the folder in which the program will run; `env` does
 * not. */
bool spawn_name(const char *command, MPI_Info info, char *name, size_t bytes)
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
