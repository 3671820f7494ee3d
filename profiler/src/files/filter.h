/* The programs, ranks, modules and files that are recorded, as the settings choose (with Darshan's names
 * and meaning). */
#ifndef IOLENS_FILTER_H
#define IOLENS_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "../records/module.h"

enum { FILTER_RULES = 64 };

struct filter {
    uint32_t modules_off;               /* bit m: module m records nothing */
    uint32_t modules_on;                /* bit m: MOD_ENABLE asks for it */
    int64_t most_records[MODULE_COUNT]; /* 0: as many as memory holds */
    _Atomic int64_t records[MODULE_COUNT];
    int rules;
    struct name_rule *rule; /* of NAME_EXCLUDE and NAME_INCLUDE */
};

extern struct filter iolens_filter;

/* Reads the settings; a value that cannot be understood is said and left out. */
void filter_read(struct filter *filter);

/* False when this program is not to be recorded. `name` without folder. */
bool filter_app(const char *name);

bool filter_rank(int rank);

/* Bit m: module m leaves this path out because a pattern says so. `*included`: a pattern of NAME_INCLUDE
 * matches, so that the system's own folders are recorded too. */
uint32_t filter_skip(const struct filter *filter, const char *path, bool *included);

/* Returns true if module m may have one more record, and counts it. */
bool filter_more(struct filter *filter, enum module_index module);

#endif
