/* MPI-IO hints: converts `key=value` words and hints files to an MPI_Info, and reads the hints of an open
 * file. */
#ifndef COMMON_HINTS_H
#define COMMON_HINTS_H

#include "fail.h"
#include "json.h"

enum { HINTS_MAX = 128 };

typedef struct Hint {
    char key[MPI_MAX_INFO_KEY + 1];
    char value[MPI_MAX_INFO_VAL + 1];
} Hint;

typedef struct Hints {
    int count;
    Hint *list; /* Room for HINTS_MAX hints, allocated with the first one. */
} Hints;

/* Adds a hint `key=value`; a later value replaces an earlier one. A size such as 16M or 4KiB becomes bytes,
 * because MPI libraries read the digits and ignore the letter. */
void hints_add(Hints *hints, const char *text, Trouble *trouble);

/* Adds a hint that is given as key and value. */
void hints_put(Hints *hints, const char *key, const char *value, Trouble *trouble);

/* Reads a hints file: `key=value` or `key value` on each line; # begins a comment. */
void hints_read(Hints *hints, const char *path, Trouble *trouble);

/* Adds the hints of `more`, which replace those of the same keys. */
void hints_put_all(Hints *hints, const Hints *more, Trouble *trouble);

/* Reads a hints file without replacing existing hints, so that --hint overrides the file. */
void hints_read_below(Hints *hints, const char *path, Trouble *trouble);

/* Returns the hints as MPI_Info; MPI_INFO_NULL if there are none. */
MPI_Info hints_info(const Hints *hints);

void hints_of_info(Hints *hints, MPI_Info info);

/* Reads the hints that MPI_File_get_info reports for an open file. */
void hints_of_file(Hints *hints, MPI_File file);

void hints_json(const Hints *hints, const char *key, Json *json);

#endif
