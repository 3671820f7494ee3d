/* Script files: `IOR START`, one key=value a line, `RUN` after each test, `IOR STOP`; # begins a comment. */
#ifndef IOR_SCRIPT_H
#define IOR_SCRIPT_H

#include "settings.h"

/* The tests of the script. Each one starts from what was in force at the one before it; the first from
 * `base`.
 */
Tests script_read(const char *path, const Settings *base, Trouble *trouble);

#endif
