/* The configuration file: a site's or a user's settings, in Darshan's syntax.
 *
 *   KEY VALUE...       one setting a line; # begins a comment
 *
 * KEY is the name of a setting's variable without IOLENS_ or DARSHAN_ in front. A key that may stand on
 * several lines (NAME_EXCLUDE, MAX_RECORDS, ...) has its values joined by ';'. The environment goes before
 * the file. */
#ifndef IOLENS_CONFIG_H
#define IOLENS_CONFIG_H

#include <stdbool.h>

struct arena;

/* Reads the file into `memory`; says once what is wrong with it, with its line. */
void config_read(const char *path, struct arena *memory);

/* The values of a setting, by its variable's name or NULL; NULL when the file does not have it. */
const char *config_value(const char *variable, struct arena *memory);

#endif
