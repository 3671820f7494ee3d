/* What the libraries of all groups share: each is this file, forward.h and one list. */
#include "forward.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#include "../adapter.h"

#define BORDER(returns, name, parameters, meaning) __attribute__((weak)) returns name parameters;
#include "../adapter.def"
#undef BORDER

#define INITIAL_EXEC __attribute__((tls_model("initial-exec")))

static __thread int depth INITIAL_EXEC;      /* functions of this group that the thread is in */
static __thread bool resolving INITIAL_EXEC; /* the loader may call malloc */

struct search {
    const char *name;
    const void *own;
    void *found;
};

/* Of a library that a program loaded for itself alone. */
static int search_in(struct dl_phdr_info *info, size_t size, void *context)
{
    struct search *search = context;
    (void)size;
    void *library = *info->dlpi_name ? dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *found = library ? dlsym(library, search->name) : NULL;
    Dl_info where;
    if (library)
        dlclose(library);
    if (!found || !dladdr(found, &where) || where.dli_fbase == search->own)
        return 0;
    search->found = found;
    return 1;
}

static void *find(const char *name)
{
    Dl_info self;
    struct search search = {.name = name};
    /* Of these there is an older version too, which dlsym may take. */
    if (strncmp(name, "pthread_cond_", strlen("pthread_cond_")) == 0)
        search.found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
    if (!search.found)
        search.found = dlsym(RTLD_NEXT, name);
    if (!search.found && dladdr(&depth, &self) && (search.own = self.dli_fbase))
        dl_iterate_phdr(search_in, &search);
    return search.found;
}

void *trace_real(struct traced_function *function)
{
    if (function->real || resolving)
        return function->real;
    resolving = true;
    int error = errno;
    function->real = find(function->name);
    errno = error;
    resolving = false;
    return function->real;
}

bool trace_enter(struct traced_function *function, double *t0)
{
    if (depth > 0 || !iolens_traced_function || !iolens_tracing())
        return false;
    if (!function->number && !(function->number = iolens_traced_function(TRACE_GROUP, function->name)))
        return false;
    depth++;
    *t0 = iolens_now();
    return true;
}

void trace_leave(const struct traced_function *function, double t0, int64_t bytes)
{
    iolens_traced(function->number, t0, iolens_now(), bytes);
    depth--;
}
