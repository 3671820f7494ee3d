#include "mount_options.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { WORD_BYTES = 256, OPTIONS_BYTES = 512, JSON_GROWTH = 6 };

static const char *const NO_FILES[] = {"proc",      "sysfs",      "devpts",     "binfmt_misc", "fusectl",
                                       "debugfs",   "securityfs", "rpc_pipefs", "cgroup",      "cgroup2",
                                       "mqueue",    "tracefs",    "pstore",     "bpf",         "configfs",
                                       "hugetlbfs", "devtmpfs",   "autofs",     "nsfs",        "efivarfs"};
static const char *const PRIVATE[] = {"pass", "secret", "key", "token", "cred", "user", "name=", "domain"};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool holds_files(const char *type)
{
    for (size_t i = 0; i < COUNT(NO_FILES); i++)
        if (strcmp(type, NO_FILES[i]) == 0)
            return false;
    return true;
}

/* Removes the private options from "rw,name=value,…". */
static void keep_public(char *options)
{
    char *to = options, *rest = options, *option;
    while ((option = strsep(&rest, ","))) {
        bool hide = false;
        for (size_t i = 0; i < COUNT(PRIVATE); i++)
            hide |= strcasestr(option, PRIVATE[i]) != NULL;
        if (hide)
            continue;
        if (to > options)
            *to++ = ',';
        size_t length = strlen(option);
        memmove(to, option, length);
        to += length;
    }
    *to = '\0';
}

void mount_options(struct buffer *out, const char *table, size_t limit)
{
    const char *comma = "";
    buffer_put(out, "{", 1);
    for (const char *line = table; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        char folder[WORD_BYTES], type[WORD_BYTES], options[OPTIONS_BYTES];
        if (sscanf(line, "%*s %255s %255s %511s", folder, type, options) != 3 || !holds_files(type))
            continue;
        keep_public(options);
        if (out->used + JSON_GROWTH * (strlen(folder) + strlen(type) + strlen(options)) + 64 > limit)
            continue;
        buffer_format(out, "%s", comma);
        buffer_json(out, folder);
        buffer_format(out, ": {\"type\": ");
        buffer_json(out, type);
        buffer_format(out, ", \"options\": ");
        buffer_json(out, options);
        buffer_put(out, "}", 1);
        comma = ", ";
    }
    buffer_put(out, "}", 1);
}
