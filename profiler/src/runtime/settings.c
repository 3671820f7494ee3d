#include "settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../memory/arena.h"
#include "../system/say.h"
#include "../system/system_call.h"

/* The configuration file: a site's or a user's settings, in Darshan's syntax.
 *
 *   KEY VALUE...       one setting a line; # begins a comment
 *
 * KEY is the name of a setting's variable without IOLENS_ or DARSHAN_ in front. A key that may stand on
 * several lines (NAME_EXCLUDE, MAX_RECORDS, ...) has its values joined by ';'. The environment takes
 * precedence over the file. */

struct arena;

enum { LARGEST = 64 * 1024, LINES = 512 };

/* Keys of Darshan's configuration that have no effect here: iolens keeps names in the memory of records, and
 * does not write logs by MPI-IO. */
static const char *const WITHOUT_EFFECT[] = {"NAMEMEM", "MEMALIGN", "INTERNAL_TIMING", "LOGHINTS"};

static const char *const VARIABLES[] = {
#define SETTING(field, variable, alternative, value, meaning) variable, alternative,
#include "settings.def"
#include "../system/large_room.h"
#undef SETTING
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct {
    const char *key, *value;
} lines[LINES] LARGE_ROOM;
static int line_count;

/* Returns the name of a variable without IOLENS_ or DARSHAN_ in front. */
static const char *bare(const char *variable)
{
    static const char *const prefixes[] = {"IOLENS_", "DARSHAN_"};
    for (size_t i = 0; variable && i < COUNT(prefixes); i++)
        if (strncmp(variable, prefixes[i], strlen(prefixes[i])) == 0)
            return variable + strlen(prefixes[i]);
    return variable;
}

static bool is_known(const char *key)
{
    for (size_t i = 0; i < COUNT(VARIABLES); i++)
        if (VARIABLES[i] && strcmp(bare(VARIABLES[i]), key) == 0)
            return true;
    for (size_t i = 0; i < COUNT(WITHOUT_EFFECT); i++)
        if (strcmp(WITHOUT_EFFECT[i], key) == 0)
            return true;
    return false;
}

static char *trimmed(char *text)
{
    text += strspn(text, " \t\r");
    char *end = text + strcspn(text, "#");
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    return text;
}

/* Takes a setting from a line of the configuration file. A line with only a key switches something on, such
 * as DUMP_CONFIG. */
static void take_line(char *text, const char *path, int number)
{
    char *key = trimmed(text);
    if (*key == '\0')
        return;
    char *value = key + strcspn(key, " \t");
    if (*value != '\0')
        *value++ = '\0';
    value += strspn(value, " \t");
    if (!is_known(key))
        iolens_say("%s:%d: no setting is called %s; the line is ignored", path, number, key);
    else if (line_count == LINES)
        iolens_say("%s:%d: a configuration file may have %d settings; the rest of the file is ignored", path,
                   number, LINES);
    else {
        lines[line_count].key = key;
        lines[line_count++].value = *value ? value : "1";
    }
}

/* Reads the file into `memory`; reports once each invalid line with its number. */
static void config_read(const char *path, struct arena *memory)
{
    char *text = arena_alloc(memory, LARGEST);
    int fd = (int)system_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0), number = 0;
    ssize_t length = fd >= 0 && text ? system_call(SYS_read, fd, text, LARGEST - 1) : -1;
    if (length < 0) {
        iolens_say("cannot read the configuration file %s: %s; the program is recorded without it", path,
                   strerror(errno));
        return;
    }
    system_call(SYS_close, fd);
    char *rest = text, *line;
    while ((line = strsep(&rest, "\n")))
        take_line(line, path, ++number);
}

/* Returns the value of a setting by the name of its variable (or NULL); NULL if the file lacks it. */
static const char *config_value(const char *variable, struct arena *memory)
{
    char joined[LARGEST];
    size_t used = 0;
    for (int i = 0; variable && i < line_count; i++) {
        if (strcmp(bare(variable), lines[i].key) != 0)
            continue;
        size_t length = strlen(lines[i].value);
        if (used + length + 2 > sizeof joined)
            break;
        if (used > 0)
            joined[used++] = ';';
        memcpy(joined + used, lines[i].value, length + 1);
        used += length;
    }
    return used > 0 ? arena_text(memory, joined) : NULL;
}

/* Returns the value of a setting: from the environment, else from the configuration file, else `otherwise`.
 * Copies the value, because the program may change its environment and free the old text. */
static const char *lookup(struct arena *memory, const char *variable, const char *alternative,
                          const char *otherwise)
{
    const char *value = getenv(variable);
    if ((!value || !*value) && alternative)
        value = getenv(alternative);
    if (!value || !*value)
        value = config_value(variable, memory);
    if (!value || !*value)
        value = config_value(alternative, memory);
    return value && *value ? arena_text(memory, value) : otherwise;
}

void settings_read(struct settings *settings, struct arena *memory)
{
    const char *config = getenv("IOLENS_CONFIG_PATH");
    config = config && *config ? config : getenv("DARSHAN_CONFIG_PATH");
    if (config && *config)
        config_read(config, memory);
#define SETTING(field, variable, alternative, value, meaning)                                                \
    settings->field = lookup(memory, variable, alternative, value);
#include "settings.def"
#undef SETTING
}

void settings_print(const struct settings *settings)
{
#define SETTING(field, variable, alternative, value, meaning)                                                \
    iolens_say("%s=%s  # %s", variable, settings->field ? settings->field : "", meaning);
#include "settings.def"
#undef SETTING
}

bool settings_number(const char *text, int64_t least, int64_t most, int64_t *number)
{
    char *end;
    errno = 0;
    long long value = text ? strtoll(text, &end, 10) : 0;
    if (!text || end == text || *end != '\0' || errno != 0 || value < least || value > most)
        return false;
    *number = value;
    return true;
}

bool settings_true(const char *value) { return value && *value && strcmp(value, "0") != 0; }
