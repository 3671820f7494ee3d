#include "first_rank.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Returns the rank by the first of the launchers' variables that is set; NULL if none is. SLURM_PROCID comes
 * last, because mpirun within a batch job does not change it. */
static const char *rank(void)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK",       "PMIX_RANK",
                                            "MV2_COMM_WORLD_RANK",  "PALS_RANKID",    "ALPS_APP_PE",
                                            "JSM_NAMESPACE_RANK",   "FLUX_TASK_RANK", "SLURM_PROCID"};
    const char *value = NULL;
    for (size_t i = 0; !value && i < sizeof variables / sizeof *variables; i++)
        value = getenv(variables[i]);
    return value;
}

bool first_rank(void) { return !has_rank() || strcmp(rank(), "0") == 0; }

bool has_rank(void) { return rank() != NULL; }
