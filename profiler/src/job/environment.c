#include "environment.h"

#include <string.h>

/* JSON writes a control character in six bytes, such as \u001f. */
enum { JSON_GROWTH = 6 };

#define COUNT(array) (sizeof(array) / sizeof *(array))

extern char **environ;

/* Variables that decide how files are accessed, and that tell where the job ran. */
static const char *const PREFIXES[] = {"OMPI_MCA_",     "ROMIO_", "MPICH_", "SLURM_",   "IOLENS_",
                                       "DARSHAN_",      "DXT_",   "HDF5_",  "PNETCDF_", "I_MPI_",
                                       "LOADEDMODULES", "PE_ENV", "PBS_",   "FI_",      "UCX_"};
/* Variables with the number of a process and the number of all processes, for launchers without MPI. */
static const char *const RANKS[] = {"RANK",
                                    "LOCAL_RANK",
                                    "GROUP_RANK",
                                    "NODE_RANK",
                                    "WORLD_SIZE",
                                    "OMPI_COMM_WORLD_RANK",
                                    "OMPI_COMM_WORLD_SIZE",
                                    "PMI_RANK",
                                    "PMI_SIZE",
                                    "PMIX_RANK",
                                    "MV2_COMM_WORLD_RANK",
                                    "JSM_NAMESPACE_RANK",
                                    "FLUX_TASK_RANK",
                                    "ALPS_APP_PE"};
/* Variables from the launcher to its own daemons. They are left out, because one of them holds a secret
 * key. */
static const char *const LAUNCHER[] = {"OMPI_MCA_orte_", "OMPI_MCA_ess"};
static const char *const SECRETS[] = {"KEY",        "TOKEN", "SECRET", "PASS",
                                      "CREDENTIAL", "AUTH",  "COOKIE", "JWT"};

static bool begins_with_any(const char *entry, const char *const *prefixes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (*entry == *prefixes[i] && strncmp(entry, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static bool is_rank(const char *entry)
{
    size_t length = strcspn(entry, "=");
    for (size_t i = 0; i < COUNT(RANKS); i++)
        if (*entry == *RANKS[i] && strlen(RANKS[i]) == length && strncmp(entry, RANKS[i], length) == 0)
            return true;
    return false;
}

static bool is_chosen(const char *entry)
{
    size_t length = strcspn(entry, "=");
    if (is_rank(entry))
        return true;
    if (!begins_with_any(entry, PREFIXES, COUNT(PREFIXES)) ||
        begins_with_any(entry, LAUNCHER, COUNT(LAUNCHER)))
        return false;
    for (size_t i = 0; i < COUNT(SECRETS); i++) {
        const char *found = strcasestr(entry, SECRETS[i]);
        if (found && found < entry + length)
            return false;
    }
    return true;
}

void environment_json(struct buffer *out, size_t limit)
{
    const char *comma = "";
    buffer_format(out, "{");
    for (char **entry = environ; entry && *entry; entry++) {
        char name[128];
        size_t length = strcspn(*entry, "=");
        if (!is_chosen(*entry) || length >= sizeof name || out->used + JSON_GROWTH * strlen(*entry) > limit)
            continue;
        memcpy(name, *entry, length);
        name[length] = '\0';
        buffer_format(out, "%s", comma);
        buffer_json(out, name);
        buffer_format(out, ": ");
        buffer_json(out, (*entry)[length] ? *entry + length + 1 : "");
        comma = ", ";
    }
    buffer_format(out, "}");
}
