#include "component.h"

#include <link.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef OPEN_MPI

/* Open MPI loads OMPIO's writing components (fbtl) only after it has chosen OMPIO for a file, whereas
 * choosing always loads ROMIO. If components are built into the library, neither can be detected; then the
 * component is known only if the environment allows just one. */
struct seen {
    bool ompio;
    char romio[32];
};

static int look(struct dl_phdr_info *info, size_t size, void *context)
{
    struct seen *seen = context;
    (void)size;
    const char *romio = strstr(info->dlpi_name, "/mca_io_romio");
    seen->ompio |= strstr(info->dlpi_name, "/mca_fbtl_") != NULL;
    if (romio)
        snprintf(seen->romio, sizeof seen->romio, "%.*s", (int)strcspn(romio + 8, "."), romio + 8);
    return 0;
}

const char *component_in_use(void)
{
    static struct seen seen;
    const char *allowed = getenv("OMPI_MCA_io");
    dl_iterate_phdr(look, &seen);
    if (!seen.ompio && !*seen.romio && allowed && !strpbrk(allowed, ",^"))
        return allowed;
    return seen.ompio ? "ompio" : seen.romio;
}

#else

/* Returns the implementation of MPI-IO in use: MPICH and its derivatives have only ROMIO. */
const char *component_in_use(void) { return "romio"; }

#endif
