/* From a library's handle (a whole number) to what is recorded of the object behind it. */
#ifndef IOLENS_IDS_H
#define IOLENS_IDS_H

#include <stdint.h>

#include "../system/spin.h"

enum { IDS_BUCKETS = 256 };

struct id {
    int64_t key;
    void *state;
    struct id *next;
};

struct ids {
    struct spin lock;
    struct id *buckets[IDS_BUCKETS];
    struct id *free;
};

/* An old entry of the key is replaced; without memory nothing is remembered. */
void ids_put(struct ids *ids, int64_t key, void *state);

/* NULL when the key is not there, or recording is switched off. */
void *ids_find(struct ids *ids, int64_t key);

/* The same, and forget it. */
void *ids_take(struct ids *ids, int64_t key);

/* The state of one of the keys from `first` to `last`, and forget it; NULL when there is none. */
void *ids_take_between(struct ids *ids, int64_t first, int64_t last);

#endif
