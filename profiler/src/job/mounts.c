#include "mounts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "../system/hash.h"
#include "../system/path.h"
#include "../system/system_call.h"

/* Tells whether the process runs under Valgrind, which prints a warning about each system call that it does
 * not know. */

/* Valgrind preloads a library of its own. */
static inline bool is_under_valgrind(void)
{
    const char *preload = getenv("LD_PRELOAD");
    return preload && strstr(preload, "/vgpreload_");
}

enum { TABLE_BYTES = 1 << 16, MOST_TABLE_BYTES = 1 << 23, OPTION_BYTES = 512 };

static const char *const NO_FILES[] = {"proc",      "sysfs",      "devpts",     "binfmt_misc", "fusectl",
                                       "debugfs",   "securityfs", "rpc_pipefs", "cgroup",      "cgroup2",
                                       "mqueue",    "tracefs",    "pstore",     "bpf",         "configfs",
                                       "hugetlbfs", "devtmpfs",   "autofs",     "nsfs",        "efivarfs"};
/* File systems that there may be hundreds of, and that seldom hold a program's data. */
static const char *const MANY[] = {"nfs", "nfs4", "tmpfs", "overlay", "squashfs", "fuse.squashfuse"};
static const char *const PRIVATE[] = {"pass", "secret", "key", "token", "cred", "user", "name=", "domain"};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool is_any(struct mount_word word, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(names[i]) == word.length && memcmp(names[i], word.at, word.length) == 0)
            return true;
    return false;
}

/* Returns true if an option must not get into the log, such as a password. Compares the first letters first,
 * because a mount table has hundreds of options, nearly all of them public. */
static bool is_private(const char *option, size_t length)
{
    for (const char *end = option + length; option < end; option++)
        for (size_t i = 0; i < COUNT(PRIVATE); i++)
            if ((*option | 0x20) == *PRIVATE[i] && strncasecmp(option, PRIVATE[i], strlen(PRIVATE[i])) == 0)
                return true;
    return false;
}

static bool is_among(const char *options, size_t used, const char *option, size_t length)
{
    for (const char *at = options; at < options + used; at += strcspn(at, ",") + 1)
        if (strcspn(at, ",") == length && memcmp(at, option, length) == 0)
            return true;
    return false;
}

/* Appends the public options that are not there yet. */
static void add_options(char options[OPTION_BYTES], struct mount_word word)
{
    size_t used = strlen(options);
    const char *end = word.at + word.length;
    for (const char *at = word.at; at < end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        size_t length = (size_t)((comma ? comma : end) - at);
        if (used + length + 2 < OPTION_BYTES && !is_private(at, length) &&
            !is_among(options, used, at, length)) {
            if (used > 0)
                options[used++] = ',';
            memcpy(options + used, at, length);
            used += length;
            options[used] = '\0';
        }
        at += length + 1;
    }
}

static struct mount_word word_at(const char **text)
{
    const char *at = *text + strspn(*text, " ");
    struct mount_word word = {at, strcspn(at, " \n")};
    *text = at + word.length;
    return word;
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

void mounts_read(struct buffer *table)
{
    for (size_t room = TABLE_BYTES; room <= MOST_TABLE_BYTES; room *= 8) {
        char *text = buffer_room(table, room);
        size_t bytes = text ? slurp("/proc/self/mountinfo", text, room) : 0;
        if (text && bytes == room - 1 && room < MOST_TABLE_BYTES)
            continue;
        buffer_add(table, text ? bytes + 1 : 0);
        return;
    }
}

/* A row of the kernel's table: what lies between the mount's options and the file system's type are marks
 * that end with "-". */
static const char *next_row(const char *table, struct mount *mount, struct mount_word *more_options)
{
    while (*table) {
        const char *end = table + strcspn(table, "\n");
        struct mount_word number = word_at(&table);
        word_at(&table);
        struct mount_word device = word_at(&table);
        word_at(&table);
        mount->folder = word_at(&table);
        mount->options = word_at(&table);
        struct mount_word mark;
        do
            mark = word_at(&table);
        while (mark.length > 0 && !(mark.length == 1 && *mark.at == '-'));
        mount->type = word_at(&table);
        word_at(&table);
        *more_options = word_at(&table);
        char *minor;
        unsigned long major = strtoul(device.at, &minor, 10);
        mount->number = strtoll(number.at, NULL, 10);
        mount->device = makedev(major, *minor == ':' ? strtoul(minor + 1, NULL, 10) : 0);
        table = end + (*end == '\n');
        if (more_options->at <= end && more_options->length > 0)
            return table;
    }
    return NULL;
}

/* Lines that are being written. */
struct lines {
    char *at, *end;
    bool whole;
};

static void add_line(struct lines *lines, const struct mount *mount, struct mount_word more_options)
{
    char options[OPTION_BYTES] = "";
    size_t room = (size_t)(lines->end - lines->at);
    add_options(options, mount->options);
    add_options(options, more_options);
    int length = snprintf(lines->at, room, "%lld %u:%u %.*s %.*s %s\n", (long long)mount->number,
                          major(mount->device), minor(mount->device), (int)mount->type.length, mount->type.at,
                          (int)mount->folder.length, mount->folder.at, *options ? options : "-");
    if (length < 0 || (size_t)length >= room) {
        *lines->at = '\0';
        lines->whole = false;
    } else {
        lines->at += length;
    }
}

enum importance { FIRST, USUAL, ONE_OF_MANY, IMPORTANCES };

static enum importance importance_of(const struct mount *mount, mount_filter *is_first)
{
    bool root = mount->folder.length == 1;
    if (root || is_first(mount))
        return FIRST;
    return is_any(mount->type, MANY, COUNT(MANY)) ? ONE_OF_MANY : USUAL;
}

/* Writes the lines of one importance or, for IMPORTANCES, all lines in the order of the table: if several
 * file systems are mounted at one place, the last one hides the others. */
static void keep_lines(struct lines *lines, const char *table, mount_filter *is_first, enum importance wanted)
{
    struct mount mount;
    struct mount_word more_options;
    while ((table = next_row(table, &mount, &more_options)))
        if (!is_any(mount.type, NO_FILES, COUNT(NO_FILES)) &&
            (wanted == IMPORTANCES || importance_of(&mount, is_first) == wanted))
            add_line(lines, &mount, more_options);
}

bool mounts_keep(const char *table, mount_filter *is_first, char *text, size_t room)
{
    struct lines lines = {text, text + room, true};
    *text = '\0';
    keep_lines(&lines, table, is_first, IMPORTANCES);
    if (lines.whole)
        return true;
    lines.at = text;
    *text = '\0';
    for (enum importance wanted = FIRST; wanted < IMPORTANCES; wanted++)
        keep_lines(&lines, table, is_first, wanted);
    return false;
}

const char *mounts_next(const char *lines, struct mount *mount)
{
    if (!*lines)
        return NULL;
    const char *end = lines + strcspn(lines, "\n");
    char *minor;
    mount->number = strtoll(lines, NULL, 10);
    word_at(&lines);
    unsigned long major = strtoul(word_at(&lines).at, &minor, 10);
    mount->device = makedev(major, *minor == ':' ? strtoul(minor + 1, NULL, 10) : 0);
    mount->type = word_at(&lines);
    mount->folder = word_at(&lines);
    mount->options = word_at(&lines);
    return end + (*end == '\n');
}

/* Returns the byte at the start of an escaped text, and steps over it. */
static char unescaped(const char **at, const char *end)
{
    const char *text = *at;
    bool octal = end - text >= 4 && text[0] == '\\' && text[1] >= '0' && text[1] <= '3' && text[2] >= '0' &&
                 text[2] <= '7' && text[3] >= '0' && text[3] <= '7';
    *at += octal ? 4 : 1;
    return (char)(octal ? (text[1] - '0') << 6 | (text[2] - '0') << 3 | (text[3] - '0') : *text);
}

bool mount_folder(const struct mount *mount, char *folder, size_t size)
{
    const char *at = mount->folder.at, *end = at + mount->folder.length;
    size_t used = 0;
    while (at < end && used < size - 1)
        folder[used++] = unescaped(&at, end);
    folder[used] = '\0';
    return at == end;
}

bool mount_holds(const struct mount *mount, const char *path, size_t *depth)
{
    const char *at = mount->folder.at, *end = at + mount->folder.length, *from = path;
    while (at < end)
        if (unescaped(&at, end) != *path++)
            return false;
    *depth = (size_t)(path - from);
    return *depth > 0 && (path[-1] == '/' || *path == '/' || *path == '\0');
}

static void put_member(struct buffer *out, const char *name, struct mount_word word, const char *end)
{
    char text[OPTION_BYTES];
    snprintf(text, sizeof text, "%.*s", (int)word.length, word.at);
    buffer_format(out, "\"%s\": ", name);
    buffer_json(out, text);
    buffer_format(out, "%s", end);
}

void mounts_json(struct buffer *out, const char *lines)
{
    const char *comma = "";
    struct mount mount;
    char folder[PATH_BYTES];
    buffer_put(out, "{", 1);
    while ((lines = mounts_next(lines, &mount))) {
        if (!mount_folder(&mount, folder, sizeof folder))
            continue;
        buffer_format(out, "%s", comma);
        buffer_json(out, folder);
        buffer_format(out, ": {");
        put_member(out, "type", mount.type, ", ");
        if (mount.options.length == 1 && *mount.options.at == '-')
            mount.options.length = 0;
        put_member(out, "options", mount.options, "}");
        comma = ", ";
    }
    buffer_put(out, "}", 1);
}
