#include "command.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../system/slurp.h"
#include "mount_options.h"

enum { WORD_BYTES = 256 };

/* Types of file systems that are left out of the list of mounts, as Darshan does. */
static const char *const NO_FILE_SYSTEMS[] = {
    "tmpfs",      "proc", "sysfs", "devpts",     "binfmt_misc", "fusectl", "debugfs",
    "securityfs", "nfsd", "none",  "rpc_pipefs", "hugetlbfs",   "cgroup"};

static size_t add_command(char *text)
{
    static const char MARK[] = "<TRUNCATED>";
    size_t used = slurp("/proc/self/cmdline", text, COMMAND_BYTES);
    if (used == 0)
        used = (size_t)snprintf(text, COMMAND_BYTES, "%s", program_invocation_name);
    bool full = used == COMMAND_BYTES - 1;
    while (used > 0 && text[used - 1] == '\0')
        used--;
    for (size_t i = 0; i < used; i++)
        if (text[i] == '\0' || text[i] == '\n')
            text[i] = ' ';
    if (full)
        memcpy(text + used - strlen(MARK), MARK, strlen(MARK));
    return used;
}

static size_t add_mount(char *text, size_t used, const char *type, const char *folder)
{
    char row[2 * WORD_BYTES + 4];
    size_t length = (size_t)snprintf(row, sizeof row, "\n%s\t%s", type, folder);
    if (used + length >= COMMAND_BYTES)
        return used;
    memcpy(text + used, row, length + 1);
    return used + length;
}

static bool is_file_system(const char *type)
{
    for (size_t i = 0; i < sizeof NO_FILE_SYSTEMS / sizeof *NO_FILE_SYSTEMS; i++)
        if (strcmp(type, NO_FILE_SYSTEMS[i]) == 0)
            return false;
    return true;
}

static size_t add_extra_mounts(char *text, size_t used, const char *rows)
{
    for (const char *row = rows; *row;) {
        char type[WORD_BYTES], folder[WORD_BYTES];
        if (sscanf(row, "%255[^:,]:%255[^,]", type, folder) == 2)
            used = add_mount(text, used, type, folder);
        row += strcspn(row, ",");
        row += *row == ',';
    }
    return used;
}

/* Adds the mounts of NFS, or those of all other file systems. The others are added first, so that hundreds of
 * NFS mounts do not push them out. */
static size_t add_mounts(char *text, size_t used, const char *table, bool nfs)
{
    struct mount mount;
    while ((table = mount_next(table, &mount)))
        if ((strcmp(mount.type, "nfs") == 0) == nfs && is_file_system(mount.type))
            used = add_mount(text, used, mount.type, mount.folder);
    return used;
}

size_t command_text(char text[COMMAND_BYTES], const char *mounts, const char *extra)
{
    size_t used = add_command(text);
    text[used] = '\0';
    used = add_extra_mounts(text, used, extra);
    used = add_mounts(text, used, mounts, false);
    used = add_mounts(text, used, mounts, true);
    return used + 1;
}
