#include "wrap.h"
#include "old_libc.h"

#include <dlfcn.h>
#include <string.h>

static long missing(void)
{
    errno = ENOSYS;
    return -1;
}

void wrap_resolve(const char *name, void *pointer)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        found = (void *)missing;
    memcpy(pointer, &found, sizeof found);
}
