#include "command_line.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../system/slurp.h"

static char iolens_program[PROGRAM_BYTES], iolens_command[COMMAND_BYTES], iolens_user[USER_BYTES];

static void read_user(void)
{
    const char *name = getenv("LOGNAME");
    name = name && *name ? name : getenv("USER");
    if (name && !strchr(name, '/'))
        snprintf(iolens_user, sizeof iolens_user, "%s", name);
}

void command_cut(char *command, size_t bytes)
{
    static const char MARK[] = "<TRUNCATED>";
    if (strlen(command) < bytes)
        return;
    memcpy(command + bytes - strlen(MARK), MARK, sizeof MARK);
}

void command_line_read(void)
{
    size_t used = slurp("/proc/self/cmdline", iolens_command, sizeof iolens_command);
    bool full = used == sizeof iolens_command - 1;
    read_user();
    snprintf(iolens_program, sizeof iolens_program, "%s", program_invocation_short_name);
    if (used == 0)
        used = (size_t)snprintf(iolens_command, sizeof iolens_command, "%.*s", COMMAND_BYTES - 1,
                                program_invocation_name);
    while (used > 0 && iolens_command[used - 1] == '\0')
        used--;
    for (size_t i = 0; i < used; i++)
        if (iolens_command[i] == '\0' || iolens_command[i] == '\n')
            iolens_command[i] = ' ';
    if (full)
        command_cut(iolens_command, sizeof iolens_command - 1);
}

const char *program_name(void) { return iolens_program; }

const char *user_name(void) { return iolens_user; }

const char *command_line(void) { return iolens_command; }
