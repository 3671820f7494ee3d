#include "merge_lists.h"

#include <stdint.h>
#include <string.h>

struct kept_values *lists_add(struct buffer *lists, int words)
{
    struct kept_values *kept = buffer_add(lists, kept_bytes(words, KEPT_ALL));
    if (kept)
        kept_start(kept, words, KEPT_ALL);
    return kept;
}

void lists_trim(struct buffer *lists, const struct kept_values *last)
{
    lists->used -= kept_bytes((int)last->words, KEPT_ALL) - kept_bytes((int)last->words, (int)last->used);
}

static void put(struct buffer *lists, const struct kept_values *kept)
{
    buffer_put(lists, kept, kept_bytes((int)kept->words, (int)kept->used));
}

/* Add what `higher` ranks kept to what lower ones did. */
static int add(struct buffer *lists, const struct buffer *higher, size_t count)
{
    struct buffer both = {0};
    const struct kept_values *mine = (const void *)lists->data, *theirs = (const void *)higher->data;
    for (size_t i = 0; i < count; i++, mine = lists_next(mine), theirs = lists_next(theirs)) {
        struct kept_values *kept = lists_add(&both, (int)mine->words);
        if (!kept)
            break;
        kept_merge(mine, kept);
        kept_merge(theirs, kept);
        lists_trim(&both, kept);
    }
    buffer_free(lists);
    *lists = both;
    return both.failed ? -1 : 0;
}

/* How many bytes will come, or that none will. The rank below answers whether it has room for them. */
static const size_t NOTHING = SIZE_MAX;

static int receive(const struct iolens_transport *transport, int rank, struct buffer *lists)
{
    size_t bytes;
    if (transport->receive(&bytes, sizeof bytes, rank) != 0 || bytes == NOTHING)
        return -1;
    void *room = buffer_add(lists, bytes);
    uint8_t has_room = room != NULL;
    int result = transport->send(&has_room, sizeof has_room, rank);
    return result == 0 && has_room ? transport->receive(room, bytes, rank) : -1;
}

static int send(const struct iolens_transport *transport, int rank, const struct buffer *lists)
{
    uint8_t has_room = 0;
    size_t bytes = lists->failed ? NOTHING : lists->used;
    if (transport->send(&bytes, sizeof bytes, rank) != 0 || lists->failed ||
        transport->receive(&has_room, sizeof has_room, rank) != 0)
        return -1;
    return has_room ? transport->send(lists->data, bytes, rank) : -1;
}

/* A binomial tree: a rank has the lists of 1, 2, 4 … ranks from its own on, and hands them to the one below.
 * One that lost them says so when its turn comes, since the one below waits for it. */
static int merge_by_messages(const struct iolens_transport *transport, struct buffer *lists, size_t count)
{
    for (int step = 1; step < transport->size; step *= 2) {
        if (transport->rank & step)
            return send(transport, transport->rank - step, lists);
        if (transport->rank + step >= transport->size)
            continue;
        struct buffer theirs = {0};
        if (receive(transport, transport->rank + step, &theirs) != 0 || lists->failed ||
            add(lists, &theirs, count) != 0)
            lists->failed = true;
        buffer_free(&theirs);
    }
    return lists->failed ? -1 : 0;
}

static void combine(const void *in, void *inout) { kept_merge(in, inout); }

/* Where ranks cannot send: a reduction, for which all lists must be of one size. */
static int merge_by_reduction(const struct iolens_transport *transport, struct buffer *lists, size_t count)
{
    struct buffer whole = {0};
    size_t stride = 0;
    const struct kept_values *kept = (const void *)lists->data;
    for (size_t i = 0; i < count; i++, kept = lists_next(kept))
        if (kept_bytes((int)kept->words, KEPT_ALL) > stride)
            stride = kept_bytes((int)kept->words, KEPT_ALL);
    char *rows = buffer_add(&whole, stride * count);
    kept = (const void *)lists->data;
    for (size_t i = 0; rows && i < count; i++, kept = lists_next(kept))
        memcpy(rows + i * stride, kept, kept_bytes((int)kept->words, (int)kept->used));
    int result = rows ? transport->reduce_records(rows, stride, count, combine) : -1;
    lists->used = 0;
    for (size_t i = 0; result == 0 && i < count; i++)
        put(lists, (const void *)(rows + i * stride));
    buffer_free(&whole);
    return lists->failed ? -1 : result;
}

int lists_merge(const struct iolens_transport *transport, struct buffer *lists, size_t count)
{
    if (transport->send)
        return merge_by_messages(transport, lists, count);
    return lists->failed ? -1 : merge_by_reduction(transport, lists, count);
}
