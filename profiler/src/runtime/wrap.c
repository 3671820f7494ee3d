#include "wrap.h"

#include "../next_symbol.h"
#include "../system/library.h"

static long missing(void)
{
    errno = ENOSYS;
    return -1;
}

/* Libraries that a program may load privately, each with the prefix that the names of its functions have. */
static const struct {
    const char *functions, *file;
} API[] = {{"H5", "libhdf5"}, {"ncmpi_", "libpnetcdf"}, {"io_uring_", "liburing"}, {"io_", "libaio"}};

enum { TABLES = 4 };
static void (*waiting_tables[TABLES])(void);
static atomic_bool handlers_expected;

void wrap_resolve_for_handlers(void (*resolve)(void))
{
    for (int i = 0; i < TABLES && !handlers_expected; i++)
        if (!waiting_tables[i]) {
            waiting_tables[i] = resolve;
            return;
        }
    resolve();
}

void wrap_expect_handlers(void)
{
    for (int i = 0; i < TABLES && waiting_tables[i] && !handlers_expected; i++)
        waiting_tables[i]();
    handlers_expected = true;
}

void wrap_resolve(const char *name, void *pointer)
{
    void *found = NULL;
    for (size_t i = 0; i < sizeof API / sizeof API[0] && !found; i++)
        if (strncmp(name, API[i].functions, strlen(API[i].functions)) == 0)
            found = library_symbol(API[i].file, name);
    if (!found)
        found = next_symbol(name);
    if (!found)
        found = (void *)missing;
    memcpy(pointer, &found, sizeof found);
}
