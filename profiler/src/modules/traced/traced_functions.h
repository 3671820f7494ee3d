/* Functions that are traced: one of a group has a number, one of the program's own an address. */
#ifndef IOLENS_TRACED_FUNCTIONS_H
#define IOLENS_TRACED_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum { TRACED_GROUP_BYTES = 16, TRACED_NAME_BYTES = 64, TRACED_OWN = 0 };

struct traced_name {
    char group[TRACED_GROUP_BYTES], function[TRACED_NAME_BYTES];
};

/* `region` is the one that the caller is in. */
struct traced_key {
    uint32_t function, region; /* TRACED_OWN: one of the program's own */
    uint64_t address;          /* of one of the program's own; else 0 */
};

/* The name of a function that was called in this process, or in the one that is recovered. Of the program's
 * own the group alone. */
const struct traced_name *traced_name_of(uint32_t function);

/* Returns true if calls in this region are no longer counted. */
bool traced_throttled(const struct traced_key *key);

#endif
