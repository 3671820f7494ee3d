#include <stddef.h>
#include <string.h>

#include "dispatch.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Names of launchers, and of the processes that they leave on each node. An ending behind a dot is allowed,
 * as in mpirun.openmpi. */
static const char *const launchers[] = {
    "mpirun", "mpiexec", "orterun",    "orted",           "prterun",
    "prted",  "prte",    "mpirun_rsh", "hydra_pmi_proxy", "hydra_bstrap_proxy",
    "srun",   "aprun",   "ibrun",      "jsrun",           "jswrap",
    "lrun",   "flux",    "flux-run",   "flux-broker",     "flux-shell"};

/* Interpreters of launchers that are scripts; a version may follow, as in python3.11. */
static const char *const interpreters[] = {"sh", "bash", "dash", "ksh", "zsh", "perl", "python"};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Returns true if the name of a program is in the list, maybe followed by an ending that begins with one of
 * the characters in `endings`. */
static bool is_among(const char *path, const char *const *list, size_t count, const char *endings)
{
    const char *name = base_name(path);
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(list[i]);
        if (strncmp(name, list[i], length) == 0 && (name[length] == '\0' || strchr(endings, name[length])))
            return true;
    }
    return false;
}

bool launcher_is(char *const *words)
{
    if (!words || !*words)
        return false;
    if (!is_among(*words, interpreters, COUNT(interpreters), "0123456789."))
        return is_among(*words, launchers, COUNT(launchers), ".");
    do
        words++;
    while (*words && **words == '-' && strcmp(*words, "-c") != 0);
    return *words && is_among(*words, launchers, COUNT(launchers), ".");
}
