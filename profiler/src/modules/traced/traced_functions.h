/* Traced functions: functions of known libraries have a number, the program's own functions an address. */
#ifndef IOLENS_TRACED_FUNCTIONS_H
#define IOLENS_TRACED_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum { TRACED_GROUP_BYTES = 16, TRACED_NAME_BYTES = 64, TRACED_OWN = 0 };

struct traced_name {
    char group[TRACED_GROUP_BYTES], function[TRACED_NAME_BYTES];
};

/* Key of a row: a function, and the region in which its caller was. */
struct traced_key {
    uint32_t function, region; /* TRACED_OWN stands for a function of the program's own. */
    uint64_t address;          /* Address of one of the program's own functions; else 0. */
};

/* Returns the names of a function's group and of the function itself; for a function of the program's own
 * only that of the group. Also valid for the process whose spool is being recovered. */
const struct traced_name *traced_name_of(uint32_t function);

/* Returns true if calls in this region are no longer counted. */
bool traced_throttled(const struct traced_key *key);

#endif
