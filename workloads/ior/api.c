#include "api.h"

#include <errno.h>
#include <unistd.h>

extern const Api API_POSIX, API_MPIIO, API_MMAP, API_TWO_PHASE;
#ifdef HAVE_HDF5
extern const Api API_HDF5;
#endif
#ifdef HAVE_PNETCDF
extern const Api API_NCMPI;
#endif

static const Api *const APIS[] = {
    &API_POSIX, &API_MPIIO, &API_MMAP,
#ifdef HAVE_HDF5
    &API_HDF5,
#endif
#ifdef HAVE_PNETCDF
    &API_NCMPI,
#endif
};

enum { COUNT = sizeof APIS / sizeof APIS[0] };

const Api *api_named(const char *name)
{
    for (int i = 0; i < COUNT; i++)
        if (strcasecmp(APIS[i]->name, name) == 0)
            return APIS[i];
    return NULL;
}

const Api *api_of(const Settings *settings)
{
    bool own = strcmp(settings->driver, DRIVER_LUSTRE_LIKE) == 0;
    return own ? &API_TWO_PHASE : api_named(settings->api);
}

const char *api_names(void)
{
    static char text[64];
    text[0] = '\0';
    for (int i = 0; i < COUNT; i++) {
        strcat(text, i > 0 ? ", " : "");
        strcat(text, APIS[i]->name);
    }
    return text;
}

void api_unlink(const char *path, Trouble *trouble)
{
    if (unlink(path) != 0 && errno != ENOENT)
        trouble_note(trouble, "cannot remove %s: %s", path, strerror(errno));
}
