/* The configuration file: a site's or a user's settings, in Darshan's syntax.
 *
 *   KEY VALUE...       one setting a line; # begins a comment
 *
 * KEY is the name of a setting's variable without IOLENS_ or DARSHAN_ in front. A key that may stand on
 * several lines (NAME_EXCLUDE, MAX_RECORDS, ...) has its values joined by ';'. The environment takes
 * precedence over the file. */
#ifndef IOLENS_CONFIG_H
#define IOLENS_CONFIG_H

#include <stdbool.h>

struct arena;

/* Reads the file into `memory`; reports once each invalid line with its number. */
void config_read(const char *path, struct arena *memory);

/* Returns the value of a setting by the name of its variable (or NULL); NULL if the file lacks it. */
const char *config_value(const char *variable, struct arena *memory);

#endif
