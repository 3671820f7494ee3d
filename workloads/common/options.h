/* Command-line options from one table: parsing, --help, defaults and the `parameters` of the result JSON.
 *
 * An option is `--name value` or `--name=value`; a flag stands alone. An option with a letter is also `-l
 * value`,
 * `-lvalue` or `-l=value`, and flags with letters may stand together: `-wrk`. The target is a field of the
 * program's configuration; its value before parsing is the default that --help shows. */
#ifndef COMMON_OPTIONS_H
#define COMMON_OPTIONS_H

#include "fail.h"
#include "json.h"

#include <stdint.h>

typedef enum {
    OPTION_FLAG,  /* bool */
    OPTION_COUNT, /* int, not negative */
    OPTION_INT,   /* int */
    OPTION_SIZE,  /* int64_t, bytes, not negative; k m g t are powers of 1024 */
    OPTION_REAL,  /* double, positive */
    OPTION_TEXT,  /* const char * */
    OPTION_GRID,  /* int[3], written NX,NY,NZ */
    OPTION_TALLY, /* int: how often the flag is given */
    OPTION_SET,   /* key=value,... sets other options by name; has no field */
    OPTION_HINT,  /* Hints, one key=value each time; not a parameter in the JSON */
} OptionKind;

typedef struct Option {
    const char *name;
    OptionKind kind;
    size_t offset; /* of the field in the configuration */
    const char *argument;
    const char *help;
    char letter;      /* of the short form, or 0 */
    const char *also; /* further long names, separated by blanks, or NULL */
} Option;

typedef struct OptionTable {
    const Option *options;
    int count;
    const char *usage; /* what stands before the list in --help */
    const char *notes; /* what stands behind it */
} OptionTable;

/* Bytes of "47008", "16M", "1g": false when the text is no size or too large. */
bool options_size(const char *text, int64_t *bytes);

/* One `name value` pair as from a file, the name without dashes. */
void options_set(const OptionTable *table, const char *name, const char *value, void *config,
                 Trouble *trouble);

/* Fills `config`; notes the first thing that is wrong. */
void options_parse(const OptionTable *table, int argc, char **argv, void *config, Trouble *trouble);

/* Called by every rank: rank 0 prints what the options mean, MPI is finalised, all exit with success. */
_Noreturn void options_help(const OptionTable *table, const void *defaults, MPI_Comm comm);

/* One member for each option, dashes turned to underscores. */
void options_json(const OptionTable *table, const void *config, Json *json);

#endif
