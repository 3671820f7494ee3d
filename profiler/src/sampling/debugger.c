#include "debugger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../system/slurp.h"

const char *debugger_name(void)
{
    static const char FIELD[] = "\nTracerPid:";
    static char name[64];
    char status[4096], path[64];
    const char *tracer = slurp("/proc/self/status", status, sizeof status) ? strstr(status, FIELD) : NULL;
    long process = tracer ? strtol(tracer + sizeof FIELD - 1, NULL, 10) : 0;
    if (process <= 0)
        return NULL;
    snprintf(path, sizeof path, "/proc/%ld/comm", process);
    if (slurp(path, name, sizeof name) == 0)
        return "its name is not known";
    name[strcspn(name, "\n")] = '\0';
    return strcmp(name, "strace") == 0 ? NULL : name;
}
