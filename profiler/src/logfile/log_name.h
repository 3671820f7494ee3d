/* What the log is called and where it stands. */
#ifndef IOLENS_LOG_NAME_H
#define IOLENS_LOG_NAME_H

#include <stdint.h>
#include <sys/types.h>

#include "../system/path.h"

/* The name that was asked for, or <user>_<program>_id<job>-<pid>_<month>-<day>-<seconds>_<n>.darshan, by the
 * UTC time start_ns (since 1970) at which the job began; `n` is counted up while such a log is there. In a
 * tree it is <user>/<program>/id<job>/<host>/<pid>-<month>-<day>-<seconds>_<n>.darshan. */
void log_name(char name[PATH_BYTES], int64_t start_ns, int n);

/* Make the folders of such a name that are missing: of a date, each open to whom the one above it is; of a
 * tree, the same, but that only the user writes there. None in a folder that another user planted. What
 * cannot be made shows when the log is opened. */
void log_name_folders(const char *name);

/* IOLENS_LOG_MODE as permission bits; 0400 when it is none. */
mode_t log_name_mode(void);

#endif
