#include "mount_options.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../system/valgrind.h"
#include "../system/hash.h"
#include "../system/system_call.h"

enum { JSON_GROWTH = 6 };

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

/* Returns true if an option must not get into the log, such as a password. Compares the first letters first,
 * because a mount table has hundreds of options, nearly all of them public. */
static bool is_private(const char *option)
{
    for (; *option; option++)
        for (size_t i = 0; i < COUNT(PRIVATE); i++)
            if ((*option | 0x20) == *PRIVATE[i] && strncasecmp(option, PRIVATE[i], strlen(PRIVATE[i])) == 0)
                return true;
    return false;
}

/* Removes the private options from "rw,name=value,…". */
static void keep_public(char *options)
{
    char *to = options, *rest = options, *option;
    while ((option = strsep(&rest, ","))) {
        if (is_private(option))
            continue;
        if (to > options)
            *to++ = ',';
        size_t length = strlen(option);
        memmove(to, option, length);
        to += length;
    }
    *to = '\0';
}

/* Copies a word, and cuts it if it is too long. Returns the place behind it. */
static const char *take_word(const char *text, char *word, size_t size)
{
    text += strspn(text, " ");
    size_t length = strcspn(text, " \n"), kept = length < size ? length : size - 1;
    memcpy(word, text, kept);
    word[kept] = '\0';
    return text + length;
}

uint64_t mount_ids(void)
{
    /* Definitions for listmount(2) that most systems' headers do not have yet: struct mnt_id_req, LSMT_ROOT
       and the number of the call. */
    enum { LISTMOUNT = 458, MOST = 512 };
    const struct {
        uint32_t bytes, spare;
        uint64_t mount, after;
    } all = {.bytes = sizeof all, .mount = UINT64_MAX};
    uint64_t ids[MOST];
    int saved_errno = errno;
    if (is_under_valgrind())
        return 0;
    long count = system_call(LISTMOUNT, &all, ids, (size_t)MOST, 0L);
    errno = saved_errno;
    return count > 0 && count < MOST ? record_id((const char *)ids, (size_t)count * sizeof *ids) : 0;
}

const char *mount_next(const char *table, struct mount *mount)
{
    while (*table) {
        char device[2];
        table = take_word(table, device, sizeof device);
        table = take_word(table, mount->folder, sizeof mount->folder);
        table = take_word(table, mount->type, sizeof mount->type);
        table = take_word(table, mount->options, sizeof mount->options);
        table += strcspn(table, "\n");
        table += *table == '\n';
        if (*mount->options)
            return table;
    }
    return NULL;
}

void mount_options(struct buffer *out, const char *table, size_t limit)
{
    const char *comma = "";
    buffer_put(out, "{", 1);
    struct mount mount;
    while ((table = mount_next(table, &mount))) {
        if (!holds_files(mount.type))
            continue;
        keep_public(mount.options);
        size_t length = strlen(mount.folder) + strlen(mount.type) + strlen(mount.options);
        if (out->used + JSON_GROWTH * length + 64 > limit)
            continue;
        buffer_format(out, "%s", comma);
        buffer_json(out, mount.folder);
        buffer_format(out, ": {\"type\": ");
        buffer_json(out, mount.type);
        buffer_format(out, ", \"options\": ");
        buffer_json(out, mount.options);
        buffer_put(out, "}", 1);
        comma = ", ";
    }
    buffer_put(out, "}", 1);
}
