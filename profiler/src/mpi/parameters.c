#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core.h"
#include "handles.h"

enum { NAME_BYTES = 256 };

/* Variables by which users set the MPI library or the network library below it. Variables of Open MPI's own
 * parameters are handled elsewhere. */
static const char *const PREFIXES[] = {"OMPI_MCA_", "MPIR_CVAR_", "MPIR_PARAM_", "MPICH_", "I_MPI_",
                                       "MV2_",      "UCX_",       "FI_",         "PSM2_",  "PSM3_"};

/* Beginnings of parameters that launchers and the library set for their own purposes. */
static const char *const THEIRS[] = {
    "OMPI_MCA_orte_",
    "OMPI_MCA_ess",
    "OMPI_MCA_pmix",
    "OMPI_MCA_initial_wdir",
    "OMPI_MCA_prte",
    "OMPI_MCA_PREFIXES",
    "OMPI_MCA_shmem_RUNTIME",
    "OMPI_MCA_mpi_oversubscribe",
    "OMPI_MCA_rmaps",
    "OMPI_MCA_plm",
    "OMPI_MCA_num_procs",
    "OMPI_MCA_cpu_type",
    "OMPI_MCA_ras",
    "OMPI_MCA_oob",
    "I_MPI_MPIRUN",
    "I_MPI_HYDRA_",
    "PSM2_DEVICES",
    "MPICH_HYDRA_",
    "MPICH_PROCESS_",
    "I_MPI_INTERNAL_",
    "I_MPI_INFO_",
    "I_MPI_BIND_WIN_ALLOCATE",
    "I_MPI_RETURN_WIN_MEM_NUMA",
    "I_MPI_PIN_INFO",
    "I_MPI_PIN_MAPPING",
};

static bool begins_with_one(const char *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(text, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

static void tell_variable(const char *variable)
{
    const char *value = strchr(variable, '=');
    char name[NAME_BYTES];
    if (!value || (size_t)(value - variable) >= sizeof name)
        return;
    snprintf(name, sizeof name, "%.*s", (int)(value - variable), variable);
    bool mca = strncmp(name, "OMPI_MCA_", 9) == 0;
    iolens_mpi_setting("environment", mca ? name + 9 : name, value + 1, "environment");
}

void parameters_tell(void)
{
    iolens_mpi_setting("library", "version", mpi_library(), "");
    parameters_of_library();
    for (char **variable = environ; variable && *variable; variable++)
        if (begins_with_one(*variable, PREFIXES, sizeof PREFIXES / sizeof *PREFIXES) &&
            !begins_with_one(*variable, THEIRS, sizeof THEIRS / sizeof *THEIRS))
            tell_variable(*variable);
}
