/* Traced functions: functions of known libraries have a number, the program's own functions an address. */
#ifndef IOLENS_TRACED_FUNCTIONS_H
#define IOLENS_TRACED_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum { TRACED_GROUP_BYTES = 16, TRACED_NAME_BYTES = 64, TRACED_OWN = 0 };

struct traced_name {
    char group[TRACED_GROUP_BYTES], function[TRACED_NAME_BYTES];
};

/* Key of a row; `region` is the caller's region. */
struct traced_key {
    uint32_t function, region; /* TRACED_OWN stands for a function of the program's own. */
    uint64_t address;          /* Address of one of the program's own functions; else 0. */
};

/* Returns the name of a function that was called in this process or in the recovered one; for a function of
 * the program's own, only the name of the group. */
const struct traced_name *traced_name_of(uint32_t function);

/* Returns true if calls in this region are no longer counted. */
bool traced_throttled(const struct traced_key *key);

#endif
