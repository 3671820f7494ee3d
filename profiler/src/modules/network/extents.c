#include "extents.h"

#include <string.h>

int64_t extents_add(struct extents *extents, int64_t begin, int64_t end)
{
    int64_t count = extents->count, first = 0, fresh = end - begin;
    if (begin < 0 || end <= begin || count < 0 || count > MOST_EXTENTS)
        return 0;
    while (first < count && extents->of[first].end < begin)
        first++;
    int64_t behind = first;
    for (; behind < count && extents->of[behind].begin <= end; behind++) {
        int64_t from = extents->of[behind].begin, to = extents->of[behind].end;
        fresh -= (to < end ? to : end) - (from > begin ? from : begin);
    }
    int64_t merged = behind - first;
    if (merged == 0 && count == MOST_EXTENTS)
        return fresh;
    /* The new bytes are counted now, before the part is enlarged by older parts that it touches. */
    if (merged > 0) {
        int64_t last = extents->of[behind - 1].end;
        begin = extents->of[first].begin < begin ? extents->of[first].begin : begin;
        end = last > end ? last : end;
    }
    memmove(&extents->of[first + 1], &extents->of[behind], (size_t)(count - behind) * sizeof *extents->of);
    extents->of[first].begin = begin;
    extents->of[first].end = end;
    extents->count = count - merged + 1;
    return fresh;
}
