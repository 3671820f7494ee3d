/* The settings, read once when the library is loaded: environment variables, then the configuration file.
 * The values are copies: the program may change its environment. */
#ifndef IOLENS_SETTINGS_H
#define IOLENS_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

struct settings {
#define SETTING(field, variable, alternative, value, meaning) const char *field;
#include "settings.def"
#undef SETTING
};

struct arena;

/* Reads all settings from the environment and the configuration file; their values point into `memory`. */
void settings_read(struct settings *settings, struct arena *memory);

/* Prints each setting on a line of standard error, as DUMP_CONFIG requests. */
void settings_print(const struct settings *settings);

/* Reads a whole number from `least` to `most`. Returns false for any other text, and leaves `number` as it
 * is. */
bool settings_number(const char *text, int64_t least, int64_t most, int64_t *number);

/* Returns false for NULL, "" and "0", else true. */
bool settings_true(const char *value);

#endif
