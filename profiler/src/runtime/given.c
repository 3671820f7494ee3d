/* Settings that the user gives from outside for files whose name matches a pattern (IOLENS_HINTS,
 * IOLENS_HDF5), in the form of Cray's MPICH_MPIIO_HINTS: PATTERN:key=value[:key=value...][,PATTERN:...]. A
 * part without '=' continues the value before it (cb_config_list=*:*); after a comma, key=value belongs to
 * the same pattern. */
#include <fnmatch.h>

#include "wrap.h"

enum { LONGEST = 8192 };

/* Ends the value at the next part that has '=', and returns that part; NULL if the value is the last one. */
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

IOLENS_EXPORT void iolens_given_each(const char *given, const char *path,
                                     void (*tell)(void *context, const char *key, const char *value),
                                     void *context)
{
    static atomic_bool said;
    char text[LONGEST], *rest = text, *entry, *pattern = NULL;
    if (!given)
        return;
    if (strlen(given) >= sizeof text) {
        if (!atomic_exchange(&said, true))
            iolens_say(
                "%.32s... is left out, because settings for files have at most %d bytes; use fewer patterns",
                given, LONGEST - 1);
        return;
    }
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
