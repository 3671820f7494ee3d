#include "rank_list.h"

#include <stdlib.h>

/* Reads one item of a list of ranks and moves `*list` behind that item. */
static bool next_item(const char **list, int64_t *first, int64_t *last)
{
    char *end;
    *first = strtoll(*list, &end, 10);
    *last = end == *list ? INT64_MAX : *first;
    bool given = end != *list;
    if (*end == ':') {
        const char *second = end + 1;
        *last = strtoll(second, &end, 10);
        if (end == second)
            *last = INT64_MAX;
        given = true;
    }
    *list = *end == ',' ? end + 1 : end;
    return given && (*end == ',' || *end == '\0') && *first >= 0 && *last >= *first;
}

bool ranks_valid(const char *list)
{
    int64_t first, last;
    while (*list)
        if (!next_item(&list, &first, &last))
            return false;
    return true;
}

bool ranks_contain(const char *list, int64_t rank)
{
    int64_t first, last;
    while (*list && next_item(&list, &first, &last))
        if (first <= rank && rank <= last)
            return true;
    return false;
}
