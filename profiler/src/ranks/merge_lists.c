#include "merge_lists.h"

#include <stdint.h>
#include <string.h>

#include "merge_messages.h"

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

/* Adds the values of `higher` ranks to the lists of lower ranks. */
static int add(struct buffer *lists, const struct buffer *higher, const void *context)
{
    struct buffer both = {0};
    size_t count = *(const size_t *)context;
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

static void combine(const void *in, void *inout) { kept_merge(in, inout); }

/* Merges by a reduction, if ranks cannot send messages. A reduction needs lists of equal size. */
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
        return merge_by_messages(transport, lists, add, &count);
    return lists->failed ? -1 : merge_by_reduction(transport, lists, count);
}
