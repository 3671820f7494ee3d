#include "settings.h"

#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "context.h"

/* A copy, because the program may change its environment and free what was there. */
static const char *lookup(const char *variable, const char *alternative, const char *otherwise)
{
    const char *value = getenv(variable);
    if ((!value || !*value) && alternative)
        value = getenv(alternative);
    if (!value || !*value)
        value = config_value(variable);
    if (!value || !*value)
        value = config_value(alternative);
    return value && *value ? arena_text(&iolens.scratch, value) : otherwise;
}

void settings_read(struct settings *settings)
{
    const char *config = getenv("IOLENS_CONFIG_PATH");
    config = config && *config ? config : getenv("DARSHAN_CONFIG_PATH");
    if (config && *config)
        config_read(config);
#define SETTING(field, variable, alternative, value, meaning)                                                \
    settings->field = lookup(variable, alternative, value);
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

bool settings_true(const char *value) { return value && *value && strcmp(value, "0") != 0; }
