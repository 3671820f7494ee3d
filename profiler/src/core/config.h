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

/* Reads the file into the settings' memory; says once what is wrong with it, with its line. */
void config_read(const char *path);

/* The values of a setting, by its variable's name or NULL; NULL when the file does not have it. */
const char *config_value(const char *variable);

#endif
