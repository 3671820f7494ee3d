#include "given_hints.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "handles.h"

enum { LONGEST = 8192 };

/* Returns the end of a value. A value may contain colons: it ends at the next part that has '='. */
static char *cut_value(char *value)
{
    char *colon = value;
    while ((colon = strchr(colon, ':'))) {
        size_t part = strcspn(colon + 1, ":");
        char *equals = strchr(colon + 1, '=');
        if (equals && equals < colon + 1 + part) {
            *colon = '\0';
            return colon + 1;
        }
        colon++;
    }
    return NULL;
}

static bool matches(const char *pattern, const char *path)
{
    const char *slash = strrchr(path, '/');
    return fnmatch(pattern, path, 0) == 0 || (slash && fnmatch(pattern, slash + 1, 0) == 0);
}

void given_hints_each(const char *path, void (*tell)(void *context, const char *key, const char *value),
                      void *context)
{
    char text[LONGEST], *rest = text, *entry, *pattern = NULL;
    const char *given = getenv("IOLENS_HINTS");
    if (!given || strlen(given) >= sizeof text)
        return;
    strcpy(text, given);
    while ((entry = strsep(&rest, ","))) {
        char *colon = strchr(entry, ':'), *equals = strchr(entry, '=');
        if (colon && (!equals || colon < equals)) {
            pattern = entry;
            *colon = '\0';
            entry = colon + 1;
        }
        bool wanted = pattern && matches(pattern, path);
        while (entry && *entry) {
            char *next = cut_value(entry), *value = strchr(entry, '=');
            if (value && wanted) {
                *value = '\0';
                tell(context, entry, value + 1);
            }
            entry = next;
        }
    }
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
