/* MPI-IO hints: from `key=value` words and hints files to an MPI_Info, and back from an open file. */
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
    Hint *list; /* room for HINTS_MAX, taken at the first hint */
} Hints;

/* One hint `key=value`; a later value replaces an earlier one. A size such as 16M or 4KiB becomes bytes,
 * since MPI libraries read the digits and drop the letter. */
void hints_add(Hints *hints, const char *text, Trouble *trouble);

/* The same in two words. */
void hints_put(Hints *hints, const char *key, const char *value, Trouble *trouble);

/* A hints file: `key=value` or `key value` on each line, # begins a comment. */
void hints_read(Hints *hints, const char *path, Trouble *trouble);

/* Those of `more`, over the ones of the same keys that are there. */
void hints_put_all(Hints *hints, const Hints *more, Trouble *trouble);

/* A hints file below the hints that are there, so that --hint can change one of the file. */
void hints_read_below(Hints *hints, const char *path, Trouble *trouble);

/* MPI_INFO_NULL when there are none. */
MPI_Info hints_info(const Hints *hints);

void hints_of_info(Hints *hints, MPI_Info info);

/* Reads the hints that MPI_File_get_info reports for an open file. */
void hints_of_file(Hints *hints, MPI_File file);

void hints_json(const Hints *hints, const char *key, Json *json);

#endif
