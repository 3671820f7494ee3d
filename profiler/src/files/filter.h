/* The programs, ranks, modules and files that are recorded, as the settings choose (with Darshan's names
 * and meaning). */
#ifndef IOLENS_FILTER_H
#define IOLENS_FILTER_H

#include "../records/module.h"

enum { FILTER_RULES = 64 };

struct filter {
    uint32_t modules_off; /* Bit m: module m records nothing. */
    uint32_t modules_on;  /* Bit m: the user's setting MOD_ENABLE asks for module m. */
    /* Largest number of records of each module; 0: limited by memory only. */
    int64_t most_records[MODULE_COUNT];
    _Atomic int64_t records[MODULE_COUNT];
    int rules;
    struct name_rule *rule; /* Array of rules: the patterns of NAME_EXCLUDE and NAME_INCLUDE. */
};

extern struct filter iolens_filter;

/* Reads the settings; an invalid value is reported and ignored. */
void filter_read(struct filter *filter);

/* Returns false if this program must not be recorded. `name` is the program's file name without its
 * folder. */
bool filter_app(const char *name);

bool filter_rank(int rank);

/* Returns the modules that leave this path out because of a pattern, as bits. Sets `*included` if a pattern
 * of NAME_INCLUDE matches; then files in system folders are recorded too. */
uint32_t filter_skip(const struct filter *filter, const char *path, bool *included);

/* Returns true if the module may have one more record, and counts it. */
bool filter_more(struct filter *filter, enum module_index module);

/* Returns true if `list` is a valid list of ranks; an empty text is one. */
bool ranks_valid(const char *list);

bool ranks_contain(const char *list, int64_t rank);

#endif
