#include "keyed.h"

#include "../memory/area.h"
#include "../runtime/context.h"

enum { BRANCH_BITS = 2, HASH_BITS = 64 };

_Static_assert(KEYED_BRANCHES == 1 << BRANCH_BITS,
               "a node must have a branch for each value of BRANCH_BITS bits");

/* Keys are read and written word by word here, and not by functions of the C library: in a program built with
 * ThreadSanitizer, its versions of these functions would report a race between two threads that use one key,
 * because ThreadSanitizer does not see how their accesses are ordered. */
static uint64_t word_at(const void *key, size_t at)
{
    uint64_t word;
    __builtin_memcpy(&word, (const char *)key + at, sizeof word);
    return word;
}

static void copy_key(void *to, const void *key, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
        uint64_t word = word_at(key, at);
        __builtin_memcpy((char *)to + at, &word, sizeof word);
    }
}

static bool is_key(const struct keyed_row *row, const void *key, size_t bytes)
{
    size_t at = 0;
    while (at < bytes && word_at(row->data, at) == word_at(key, at))
        at += sizeof(uint64_t);
    return at == bytes;
}

/* Returns the hash of a key. The multiplier and the shift are those of splitmix64 (Steele, Lea, Flood 2014).
 */
static uint64_t hash_of(const void *key, size_t bytes)
{
    uint64_t hash = bytes;
    for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
        hash = (hash ^ word_at(key, at)) * UINT64_C(0x94d049bb133111eb);
        hash ^= hash >> 31;
    }
    return hash;
}

static struct keyed_row *make(struct keyed *store, const struct keyed_shape *shape, const void *key)
{
    bool bounded = key != shape->other;
    if (bounded && atomic_load_explicit(&store->made, memory_order_relaxed) >= shape->most)
        return NULL;
    struct keyed_row *row;
    size_t bytes = sizeof *row + shape->key_bytes + shape->value_bytes;
    row = shape->in_handlers ? arena_try_alloc(&iolens.arena, bytes) : arena_alloc(&iolens.arena, bytes);
    if (!row)
        return NULL;
    row->index = atomic_fetch_add_explicit(&store->made, 1, memory_order_relaxed);
    copy_key(row->data, key, shape->key_bytes);
    return row;
}

static void enlist(struct keyed *store, struct keyed_row *row)
{
    struct keyed_row *newest = store->newest;
    do
        row->older = newest;
    while (!atomic_compare_exchange_weak(&store->newest, &newest, row));
}

/* Returns the row of a key, which is made if there is none. If there is no room, returns the row of the key
 * `other`, or NULL. Each level of the trie uses some bits of the hash; below the last level, rows of keys
 * with the same hash form a list. */
struct keyed_row *keyed_find(struct keyed *store, const struct keyed_shape *shape, const void *key)
{
    uint64_t way = hash_of(key, shape->key_bytes);
    _Atomic(struct keyed_row *) *place = &store->root;
    struct keyed_row *fresh = NULL;
    for (;; way <<= BRANCH_BITS) {
        struct keyed_row *row = atomic_load_explicit(place, memory_order_acquire);
        if (!row && !fresh && !(fresh = make(store, shape, key)))
            return key == shape->other || !shape->other ? NULL : keyed_find(store, shape, shape->other);
        if (!row && atomic_compare_exchange_strong(place, &row, fresh)) {
            enlist(store, fresh);
            return fresh;
        }
        if (is_key(row, key, shape->key_bytes))
            return row;
        place = &row->child[way >> (HASH_BITS - BRANCH_BITS)];
    }
}

/* Keeps the sound rows of a store in the spool. Each row may appear only once, so that a damaged list cannot
 * be endless. */
void keyed_validate(struct keyed *store, const struct keyed_shape *shape, const struct area *area,
                    bool (*sound)(const void *key, const void *value))
{
    size_t bytes = sizeof(struct keyed_row) + shape->key_bytes + shape->value_bytes;
    struct keyed_row *row = store->newest, *kept = NULL;
    uint64_t most = (uint64_t)(area->end - area->begin) / bytes;
    store->root = store->newest = NULL;
    if (store->made > most)
        store->made = most;
    for (; row && area_holds(area, row, bytes, 1); row = row->older) {
        if (sound && !sound(keyed_key(row), keyed_value(row, shape)))
            continue;
        if (kept)
            kept->older = row;
        else
            store->newest = row;
        kept = row;
    }
    if (kept)
        kept->older = NULL;
}
