#include "ids.h"

#include "../runtime/context.h"

static struct id **link_of(struct ids *ids, int64_t key)
{
    struct id **link = &ids->buckets[(uint64_t)key % IDS_BUCKETS];
    while (*link && (*link)->key != key)
        link = &(*link)->next;
    return link;
}

void ids_put(struct ids *ids, int64_t key, void *state)
{
    spin_lock(&ids->lock);
    struct id **link = link_of(ids, key), *id = *link;
    if (!id) {
        id = ids->free;
        if (id)
            ids->free = id->next;
        else
            id = arena_alloc(&iolens.scratch, sizeof *id);
        if (id) {
            *id = (struct id){.key = key};
            *link = id;
        }
    }
    if (id)
        id->state = state;
    spin_unlock(&ids->lock);
}

void *ids_find(struct ids *ids, int64_t key)
{
    spin_lock(&ids->lock);
    struct id *id = *link_of(ids, key);
    void *state = id && !iolens_paused() ? id->state : NULL;
    spin_unlock(&ids->lock);
    return state;
}

static void *forget(struct ids *ids, struct id **link)
{
    struct id *id = *link;
    *link = id->next;
    id->next = ids->free;
    ids->free = id;
    return id->state;
}

void *ids_take(struct ids *ids, int64_t key)
{
    spin_lock(&ids->lock);
    struct id **link = link_of(ids, key);
    void *state = *link ? forget(ids, link) : NULL;
    spin_unlock(&ids->lock);
    return state;
}

void *ids_take_between(struct ids *ids, int64_t first, int64_t last)
{
    void *state = NULL;
    spin_lock(&ids->lock);
    for (int b = 0; b < IDS_BUCKETS && !state; b++) {
        struct id **link = &ids->buckets[b];
        while (*link && ((*link)->key < first || (*link)->key > last))
            link = &(*link)->next;
        if (*link)
            state = forget(ids, link);
    }
    spin_unlock(&ids->lock);
    return state;
}
