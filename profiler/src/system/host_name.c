#include "host_name.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "system_call.h"

void host_name(char *name, size_t bytes)
{
    struct utsname node;
    bool known = system_call(SYS_uname, &node) == 0;
    snprintf(name, bytes, "%s", known ? node.nodename : "");
}
