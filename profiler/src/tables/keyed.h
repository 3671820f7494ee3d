/* Rows that are found by a key: any number of them, made at their first use, in the spool.
 *
 * Key and value are structures of the caller's, of fixed size. A row is never moved and never removed, so its
 * address may be kept; what its value holds is the caller's affair. Finding takes no lock, and a signal
 * handler may make rows too, where the shape says so. The rows form a trie by the hash of their keys, which
 * grows by itself, and a list for those who want all of them. */
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
    struct keyed_row *older; /* NULL: the first */
    uint64_t index;          /* in the order of making, from 0; some numbers may be missing */
    _Alignas(8) char data[]; /* key, then value, which begins as zeros */
};

/* A store; zeroed it is empty. Part of the state of a process table. */
struct keyed {
    _Atomic(struct keyed_row *) root, newest;
    _Atomic uint64_t made;
};

struct keyed_shape {
    size_t key_bytes, value_bytes; /* multiples of 8; keys are compared as bytes, so padding must be zeroed */
    uint64_t most;                 /* rows */
    bool in_handlers;              /* signal handlers make rows too */
    const void *other;             /* the key of the one row that all further keys share; NULL: none */
};

/* The row of `key`, found or made. Beyond `most` rows and without memory: the row of `other`, or NULL. */
struct keyed_row *keyed_find(struct keyed *store, const struct keyed_shape *shape, const void *key);

static inline const void *keyed_key(const struct keyed_row *row) { return row->data; }

static inline void *keyed_value(struct keyed_row *row, const struct keyed_shape *shape)
{
    return row->data + shape->key_bytes;
}

/* Over all rows, the newest first. */
static inline struct keyed_row *keyed_first(const struct keyed *store) { return store->newest; }
static inline struct keyed_row *keyed_next(const struct keyed_row *row) { return row->older; }

/* No more rows than that there are. Of no store (NULL): 0. */
static inline int64_t keyed_made(const struct keyed *store) { return store ? (int64_t)store->made : 0; }

/* Of a store from a spool: rows that do not lie there, and those that are not `sound` (may be NULL), are
 * taken out. From then on rows can be listed, not found. */
void keyed_validate(struct keyed *store, const struct keyed_shape *shape, const struct area *area,
                    bool (*sound)(const void *key, const void *value));

#endif
