/* Rows that are found by a key. Their number is not fixed; each is made at its first use, in the spool.
 *
 * Key and value are structures of fixed size that the caller defines. A row is never moved or removed, so its
 * address may be kept; the caller defines what its value holds. Finding takes no lock, and a signal handler
 * may make rows too if the shape allows it. The rows form a trie by the hash of their keys, which grows as
 * needed, and a list of all rows. */
#ifndef IOLENS_KEYED_H
#define IOLENS_KEYED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct area;

enum { KEYED_BRANCHES = 4 };

struct keyed_row {
    _Atomic(struct keyed_row *) child[KEYED_BRANCHES];
    struct keyed_row *older; /* The row that was made before this one; NULL in the first row. */
    uint64_t index; /* Number of the row in the order of making, from 0; some numbers may be missing. */
    _Alignas(8) char data[]; /* The key, then the value, which begins as zeros. */
};

/* A store, which is empty when zeroed. It is part of the state of a process table. */
struct keyed {
    _Atomic(struct keyed_row *) root, newest;
    _Atomic uint64_t made;
};

struct keyed_shape {
    /* Sizes of the key and of the value; both must be multiples of 8. Keys are compared as bytes, so padding
       must be zeroed. */
    size_t key_bytes, value_bytes;
    uint64_t most;     /* Largest number of rows. */
    bool in_handlers;  /* True if signal handlers make rows too. */
    const void *other; /* Key of the row that all further keys share when there is no room for rows of their
                        * own; NULL if there is no such row. */
};

/* Finds or makes the row of `key`. If there are already `most` rows, or no memory is left, returns the row of
 * `other`, or NULL. */
struct keyed_row *keyed_find(struct keyed *store, const struct keyed_shape *shape, const void *key);

static inline const void *keyed_key(const struct keyed_row *row) { return row->data; }

static inline void *keyed_value(struct keyed_row *row, const struct keyed_shape *shape)
{
    return row->data + shape->key_bytes;
}

/* Iterates over all rows, the newest first. */
static inline struct keyed_row *keyed_first(const struct keyed *store) { return store->newest; }
static inline struct keyed_row *keyed_next(const struct keyed_row *row) { return row->older; }

/* Returns an upper bound of the number of rows in a store; 0 if `store` is NULL. */
static inline int64_t keyed_made(const struct keyed *store) { return store ? (int64_t)store->made : 0; }

/* Removes the rows of a store that lie outside the spool, or for which `sound` (may be NULL) returns false.
 * Afterwards the rows can be listed, but not found by their keys. */
void keyed_validate(struct keyed *store, const struct keyed_shape *shape, const struct area *area,
                    bool (*sound)(const void *key, const void *value));

#endif
