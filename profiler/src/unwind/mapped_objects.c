#include "mapped_objects.h"
#include "../system/large_room.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>

enum { MOST = 512 };

/* glibc's struct dl_find_object, which older versions do not declare. */
struct found {
    unsigned long long flags;
    void *begin, *end;
    struct link_map *map;
    void *header;
    unsigned long long reserved[7];
};

static struct {
    int (*find)(void *address, struct found *found);
    struct unwind_object object[MOST];
    size_t count;
    atomic_uint gone;
} iolens_objects LARGE_ROOM;

void unwind_objects_unloaded(void) { iolens_objects.gone++; }

unsigned unwind_objects_gone(void)
{
    return atomic_load_explicit(&iolens_objects.gone, memory_order_relaxed);
}

static int keep(struct dl_phdr_info *info, size_t size, void *context)
{
    struct unwind_object object = {.begin = UINTPTR_MAX};
    (void)size, (void)context;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + part->p_vaddr, end = begin + part->p_memsz;
        if (part->p_type == PT_GNU_EH_FRAME)
            object.header = begin;
        if (part->p_type != PT_LOAD)
            continue;
        object.begin = begin < object.begin ? begin : object.begin;
        object.end = end > object.end ? end : object.end;
    }
    if (object.end > 0)
        iolens_objects.object[iolens_objects.count++] = object;
    return iolens_objects.count == MOST;
}

void unwind_objects_start(void)
{
    void *find = dlsym(RTLD_DEFAULT, "_dl_find_object");
    *(void **)&iolens_objects.find = find;
    if (!find)
        dl_iterate_phdr(keep, NULL);
}

bool unwind_object_at(uintptr_t address, struct unwind_object *object)
{
    struct found found;
    if (iolens_objects.find) {
        if (iolens_objects.find((void *)address, &found) != 0)
            return false;
        *object =
            (struct unwind_object){(uintptr_t)found.begin, (uintptr_t)found.end, (uintptr_t)found.header};
        return true;
    }
    for (size_t i = 0; i < iolens_objects.count; i++) {
        *object = iolens_objects.object[i];
        if (address >= object->begin && address < object->end)
            return true;
    }
    return false;
}
