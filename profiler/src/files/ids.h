/* A map from a library's handle (a whole number) to the recorded state of the object behind the handle. */
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

/* Stores the state of a key and replaces an earlier one; without memory nothing is stored. */
void ids_put(struct ids *ids, int64_t key, void *state);

/* Returns the state of a key; NULL if the key is unknown, or while recording is switched off. */
void *ids_find(struct ids *ids, int64_t key);

/* Removes a key from the map and returns its state. */
void *ids_take(struct ids *ids, int64_t key);

/* Removes one key between `first` and `last` and returns its state; NULL if there is none. */
void *ids_take_between(struct ids *ids, int64_t first, int64_t last);

#endif
