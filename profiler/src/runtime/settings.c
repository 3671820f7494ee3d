#include "settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../memory/arena.h"
#include "config.h"
#include "../system/say.h"

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
