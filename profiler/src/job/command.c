#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../system/system_call.h"
#include "identity.h"

enum { TYPE_BYTES = 64, FOLDER_BYTES = 1024, LEAST_COMMAND = 512 };

/* Types of file systems that are left out of the list of mounts unless the program used them, as Darshan
 * does. */
static const char *const NO_FILE_SYSTEMS[] = {
    "tmpfs",      "proc", "sysfs", "devpts",     "binfmt_misc", "fusectl", "debugfs",
    "securityfs", "nfsd", "none",  "rpc_pipefs", "hugetlbfs",   "cgroup",  "autofs"};

/* The rows of mounts, before the command is put in front of them. */
struct rows {
    char text[COMMAND_BYTES];
    size_t used, most;
};

static void add_row(struct rows *rows, const char *type, const char *folder)
{
    char row[TYPE_BYTES + FOLDER_BYTES + 4];
    int length = snprintf(row, sizeof row, "\n%s\t%s", type, folder);
    if (length >= (int)sizeof row || rows->used + (size_t)length >= rows->most)
        return;
    memcpy(rows->text + rows->used, row, (size_t)length + 1);
    rows->used += (size_t)length;
}

static bool is_file_system(const char *type)
{
    for (size_t i = 0; i < sizeof NO_FILE_SYSTEMS / sizeof *NO_FILE_SYSTEMS; i++)
        if (strcmp(type, NO_FILE_SYSTEMS[i]) == 0)
            return false;
    return true;
}

static void add_extra_mounts(struct rows *rows, const char *extra)
{
    for (const char *row = extra; *row;) {
        char type[TYPE_BYTES], folder[FOLDER_BYTES];
        if (sscanf(row, "%63[^:,]:%1023[^,]", type, folder) == 2)
            add_row(rows, type, folder);
        row += strcspn(row, ",");
        row += *row == ',';
    }
}

/* Adds the mounts that the program used, or the others. A mount point with a control character would look
 * like several rows, and is only in the private region `job`. */
static void add_mounts(struct rows *rows, const char *mounts, mount_filter *is_seen, bool seen)
{
    struct mount mount;
    char type[TYPE_BYTES], folder[FOLDER_BYTES];
    while ((mounts = mounts_next(mounts, &mount))) {
        if (is_seen(&mount) != seen || !mount_folder(&mount, folder, sizeof folder) ||
            strpbrk(folder, "\n\t"))
            continue;
        snprintf(type, sizeof type, "%.*s", (int)mount.type.length, mount.type.at);
        if (seen || is_file_system(type))
            add_row(rows, type, folder);
    }
}

size_t command_text(char text[COMMAND_BYTES], const char *command, const char *mounts, const char *extra,
                    mount_filter *is_seen)
{
    struct rows rows = {.most = COMMAND_BYTES - LEAST_COMMAND};
    size_t length = strlen(command);
    add_extra_mounts(&rows, extra);
    add_mounts(&rows, mounts, is_seen, true);
    size_t left = COMMAND_BYTES - 1 - rows.used;
    memcpy(text, command, length + 1);
    if (length > left)
        command_cut(text, left);
    length = strlen(text);
    rows.most = COMMAND_BYTES - length;
    add_mounts(&rows, mounts, is_seen, false);
    memcpy(text + length, rows.text, rows.used);
    text[length + rows.used] = '\0';
    return length + rows.used + 1;
}

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
