#include "settings.h"

#include <stdlib.h>
#include <string.h>

#include "context.h"

/* A copy, because the program may change its environment and free what was there. */
static const char *lookup(const char *variable, const char *alternative, const char *otherwise)
{
    const char *value = getenv(variable);
    if ((!value || !*value) && alternative)
        value = getenv(alternative);
    return value && *value ? arena_text(&iolens.arena, value) : otherwise;
}

void settings_read(struct settings *settings)
{
#define SETTING(field, variable, alternative, value, meaning)                                                \
    settings->field = lookup(variable, alternative, value);
#include "settings.def"
#undef SETTING
}

bool settings_true(const char *value) { return value && *value && strcmp(value, "0") != 0; }
