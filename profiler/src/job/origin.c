#include "origin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../system/slurp.h"
#include "../system/system_call.h"

void origin_begin(struct origin *origin)
{
    *origin = (struct origin){.pid = system_call(SYS_getpid), .ancestors = {system_call(SYS_getppid)}};
}

/* Fields 3 and 4 of /proc/<pid>/stat are its state and its parent. */
int64_t origin_parent(int64_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    if (slurp(path, text, sizeof text) == 0)
        return 0;
    const char *field =
        strrchr(text, ')'); /* The search begins after the name, which may contain any character. */
    return field && strlen(field) > 4 ? strtoll(field + 4, NULL, 10) : 0;
}

void origin_follow(struct origin *origin)
{
    for (int i = 1; i < ANCESTORS && origin->ancestors[i - 1] > 1 && !origin->ancestors[i]; i++)
        origin->ancestors[i] = origin_parent(origin->ancestors[i - 1]);
}
