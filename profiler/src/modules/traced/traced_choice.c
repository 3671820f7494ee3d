#include "traced_choice.h"
#include "../../system/large_room.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CHOSEN = 1024 };

static struct {
    bool given;
    size_t number;
    uintptr_t address[MOST_CHOSEN];
} iolens_chosen LARGE_ROOM;

/* One function that the user named: the name of the object file (empty for the program itself) and the
 * address in it. */
struct row {
    const char *name;
    size_t length;
    uintptr_t offset;
};

static int add_if_in(struct dl_phdr_info *info, size_t size, void *context)
{
    const struct row *row = context;
    const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;
    (void)size;
    if (strlen(name) != row->length || strncmp(name, row->name, row->length) != 0)
        return 0;
    if (iolens_chosen.number < MOST_CHOSEN)
        iolens_chosen.address[iolens_chosen.number++] = info->dlpi_addr + row->offset;
    return 1;
}

static int compare(const void *a, const void *b)
{
    uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;
    return (x > y) - (x < y);
}

void traced_choice_read(const char *setting)
{
    iolens_chosen.given = *setting != '\0';
    for (const char *at = setting; *at;) {
        const char *end = strchrnul(at, ','), *colon = memchr(at, ':', (size_t)(end - at));
        struct row row = {at, colon ? (size_t)(colon - at) : 0, colon ? strtoull(colon + 1, NULL, 16) : 0};
        if (colon)
            dl_iterate_phdr(add_if_in, &row);
        at = *end ? end + 1 : end;
    }
    qsort(iolens_chosen.address, iolens_chosen.number, sizeof *iolens_chosen.address, compare);
}

bool traced_choice_holds(uintptr_t function)
{
    return !iolens_chosen.given || bsearch(&function, iolens_chosen.address, iolens_chosen.number,
                                           sizeof *iolens_chosen.address, compare) != NULL;
}
