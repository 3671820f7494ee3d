#include "dataset.h"

#include "../runtime/context.h"
#include "histogram.h"
#include "timer.h"

enum { META = 2 };

void dataset_meta(struct dataset *dataset, const struct dataset_layout *at, double *doubles, struct span span)
{
    timer_add(&doubles[at->meta], &dataset->last_end[META], span.t0, span.t1);
}

void dataset_opened(struct dataset *dataset, const struct dataset_layout *at, double *doubles,
                    struct span span)
{
    timer_stamp(&doubles[at->open_start], &doubles[at->open_end], span.t0, span.t1);
    dataset_meta(dataset, at, doubles, span);
}

void dataset_closed(struct dataset *dataset, const struct dataset_layout *at, double *doubles,
                    struct span span)
{
    timer_stamp(&doubles[at->close_start], &doubles[at->close_end], span.t0, span.t1);
    dataset_meta(dataset, at, doubles, span);
}

void dataset_moved(struct dataset *dataset, const struct dataset_layout *at, int64_t *ints, double *doubles,
                   bool writing, const struct pattern *pattern, struct span span)
{
    int64_t bytes = pattern->words[0];
    int now = 1 + writing;
    ints[at->bytes + writing] += bytes;
    ints[(writing ? at->sizes_written : at->sizes_read) + histogram_bucket(bytes)]++;
    ints[at->switches] += dataset->latest && dataset->latest != now;
    dataset->latest = now;
    patterns_add(&dataset->patterns, pattern);
    timer_stamp(&doubles[at->transfer_start + writing], &doubles[at->transfer_end + writing], span.t0,
                span.t1);
    timer_add(&doubles[at->transfer_time + writing], &dataset->last_end[writing], span.t0, span.t1);
    if (span.t1 - span.t0 > doubles[at->longest + writing]) {
        doubles[at->longest + writing] = span.t1 - span.t0;
        ints[at->longest_bytes + writing] = bytes;
    }
}

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
