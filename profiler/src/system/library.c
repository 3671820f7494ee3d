#include "library.h"

#include <link.h>

#include "../next_symbol.h"

struct search {
    const char *prefix, *found;
};

static int begins_so(struct dl_phdr_info *info, size_t size, void *context)
{
    struct search *search = context;
    (void)size;
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *base = slash ? slash + 1 : info->dlpi_name;
    if (strncmp(base, search->prefix, strlen(search->prefix)) != 0)
        return 0;
    search->found = info->dlpi_name;
    return 1;
}

void *library_open(const char *file, int mode)
{
    void *(*real)(const char *, int);
    *(void **)&real = dlsym(RTLD_NEXT, "dlopen");
    return real ? real(file, mode) : NULL;
}

void *library_loaded(const char *file) { return library_open(file, RTLD_LAZY | RTLD_NOLOAD); }

void *library_symbol(const char *prefix, const char *name)
{
    void *symbol = next_symbol(name);
    struct search search = {.prefix = prefix};
    if (symbol || !dl_iterate_phdr(begins_so, &search))
        return symbol;
    void *library = library_loaded(search.found);
    return library ? dlsym(library, name) : NULL;
}

void library_close(void *handle)
{
    int (*real)(void *);
    *(void **)&real = dlsym(RTLD_NEXT, "dlclose");
    if (real)
        real(handle);
}
