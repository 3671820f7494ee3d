/* The name and the place of the log. */
#ifndef IOLENS_LOG_NAME_H
#define IOLENS_LOG_NAME_H

#include <stdint.h>
#include <sys/types.h>

#include "../system/path.h"

/* Writes the requested name, or <user>_<program>_id<job>-<pid>_<month>-<day>-<seconds>_<n>.darshan, by the
 * UTC time start_ns (since 1970) at which the job began; `n` increases while a log of that name exists. In
 * a tree the name is <user>/<program>/id<job>/<host>/<pid>-<month>-<day>-<seconds>_<n>.darshan. */
void log_name(char name[PATH_BYTES], int64_t start_ns, int n);

/* Makes the missing folders of a log's name. Folders of a date have the permissions of the folder above them;
 * in folders of a tree only the user may write. No folder is made inside one that another user created.
 * Failures show when the log is opened. */
void log_name_folders(const char *name);

/* Returns IOLENS_LOG_MODE as permission bits; 0400 if it is invalid. */
mode_t log_name_mode(void);

#endif
