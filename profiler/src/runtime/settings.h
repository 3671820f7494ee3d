/* The settings, read once when the library is loaded: environment variables, then the configuration file.
 * The values are copies: the program may change its environment. */
#ifndef IOLENS_SETTINGS_H
#define IOLENS_SETTINGS_H

#include <stdbool.h>

struct settings {
#define SETTING(field, variable, alternative, value, meaning) const char *field;
#include "settings.def"
#undef SETTING
};

struct arena;

/* The texts lie in `memory`. */
void settings_read(struct settings *settings, struct arena *memory);

/* Each on a line of standard error, as DUMP_CONFIG asks. */
void settings_print(const struct settings *settings);

/* False for NULL, "" and "0". */
bool settings_true(const char *value);

#endif
