/* Script files: `IOR START`, one key=value a line, `RUN` after each test, `IOR STOP`; # begins a comment. */
#ifndef IOR_SCRIPT_H
#define IOR_SCRIPT_H

#include "settings.h"

/* Reads the tests of a script. Each test starts from the settings of the previous one; the first starts from
 * `base`. */
Tests script_read(const char *path, const Settings *base, Trouble *trouble);

#endif
