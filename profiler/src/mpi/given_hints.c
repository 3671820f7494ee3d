#include "given_hints.h"

#include <stdlib.h>

#include "core.h"
#include "handles.h"

void given_hints_each(const char *path, void (*tell)(void *context, const char *key, const char *value),
                      void *context)
{
    iolens_given_each(getenv("IOLENS_HINTS"), path, tell, context);
}

/* An MPI_Info that is being built. */
struct making {
    MPI_Info info;
    bool failed;
};

static void add(void *context, const char *key, const char *value)
{
    struct making *making = context;
    if (making->info == mpi.info_null)
        making->failed |= pmpi.Info_create(&making->info) != MPI_SUCCESS;
    if (!making->failed)
        making->failed |= pmpi.Info_set(making->info, key, value) != MPI_SUCCESS;
}

static void notice(void *context, const char *key, const char *value)
{
    (void)key, (void)value;
    *(bool *)context = true;
}

MPI_Info given_hints(const char *path, MPI_Info info, bool *made)
{
    bool any = false;
    struct making making = {.info = mpi.info_null};
    given_hints_each(path, notice, &any);
    if (!any || (info != mpi.info_null && pmpi.Info_dup(info, &making.info) != MPI_SUCCESS))
        return info;
    given_hints_each(path, add, &making);
    *made = making.info != mpi.info_null && !making.failed;
    if (!*made && making.info != mpi.info_null)
        pmpi.Info_free(&making.info);
    return *made ? making.info : info;
}
