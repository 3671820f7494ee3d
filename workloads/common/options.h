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

typedef enum {
    OPTION_FLAG,  /* Sets a bool. */
    OPTION_COUNT, /* Sets an int, not negative. */
    OPTION_INT,   /* Sets an int of either sign. */
    OPTION_SIZE,  /* Sets an int64_t in bytes, not negative; k m g t are powers of 1024. */
    OPTION_REAL,  /* Sets a double, positive. */
    OPTION_TEXT,  /* Sets a const char *. */
    OPTION_GRID,  /* Sets an int[3], written NX,NY,NZ. */
    OPTION_TALLY, /* Sets an int to the number of times that the flag is given. */
    OPTION_SET,   /* The value key=value,... sets other options by name; the option has no target of its
                   * own. */
    OPTION_HINT,  /* Adds to Hints, one key=value each time; not a parameter in the JSON. */
} OptionKind;

typedef struct Option {
    const char *name;
    OptionKind kind;
    size_t offset; /* Offset (offsetof) of the member of the configuration that the option sets. */
    const char *argument;
    const char *help;
    char letter;      /* Letter of the option's short form, or 0 if there is none. */
    const char *also; /* Other long names, separated by blanks, or NULL. */
} Option;

typedef struct OptionTable {
    const Option *options;
    int count;
    const char *usage; /* Text before the list of options in --help. */
    const char *notes; /* Text behind the list of options. */
} OptionTable;

/* Parses sizes like "47008", "16M", "1g" to bytes; returns false for an invalid or too large size. */
bool options_size(const char *text, int64_t *bytes);

/* Handles one `name value` pair, as from a file; the name has no dashes. */
void options_set(const OptionTable *table, const char *name, const char *value, void *config,
                 Trouble *trouble);

/* Sets the members of `config` from the command line; notes the first error. */
void options_parse(const OptionTable *table, int argc, char **argv, void *config, Trouble *trouble);

/* Prints the help on rank 0, ends MPI, and exits with success. Called by every rank. */
_Noreturn void options_help(const OptionTable *table, const void *defaults, MPI_Comm comm);

/* Writes the value of each option as a member of a JSON object; dashes of names become underscores. */
void options_json(const OptionTable *table, const void *config, Json *json);

#endif
