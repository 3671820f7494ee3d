/* Checks before a run that the files in its options can be written, so that a failure is reported at once
 * and not after minutes of computing. */
#ifndef COMMON_WRITABLE_H
#define COMMON_WRITABLE_H

#include "fail.h"

/* Notes "--<option>: cannot write into <folder>" and the reason if no file can be made in the folder. */
void writable_folder(const char *option, const char *folder, Trouble *trouble);

/* Checks the folder of a file; NULL and "-" (standard output) are always valid. */
void writable_file(const char *option, const char *file, Trouble *trouble);

#endif
