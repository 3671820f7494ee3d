#include <elf.h>
#include <link.h>

#include "../memory/area.h"
#include "../runtime/context.h"
#include "../tables/process_table.h"
#include "chain_table.h"

/* ERAS: number of unloadings that are counted for one range of addresses; objects that are unloaded later
 * share the last number. MOST_PLACES: number of such ranges. */
enum { ERAS = 16, STILL_LOADED = ERAS, MOST_PLACES = 16 };

struct object {
    struct object *older;
    /* `begin` and `end`: the range of addresses to which the object is mapped. `bias`: the difference between
       an address in memory and the address in the object's file. */
    uint64_t begin, end, bias;
    uint32_t last_era; /* Era of the object's addresses when the object was unloaded; STILL_LOADED if it was
                        * not unloaded. */
    bool seen;         /* True if the object was in the loader's list at the last look. */
    struct chain_object what;
};

struct objects {
    struct object *newest;
    uint64_t loaded, unloaded; /* Number of objects ever loaded and unloaded, as the loader counts them. */
};

/* A range of addresses from which objects were unloaded. Its era is the number of unloadings so far. */
struct freed_place {
    _Atomic uint64_t begin, end;
    _Atomic uint32_t era;
};

static struct {
    _Atomic int count;
    struct freed_place place[MOST_PLACES];
} iolens_freed;

struct row {
    int64_t rank;
    int32_t object;
    char build_id[BUILD_ID_TEXT], path[OBJECT_PATH_BYTES];
};

static const struct column COLUMNS[] = {
    COLUMN(rank, "<i8", "rank", "-1: all ranks share this object number; else the only rank that uses it"),
    COLUMN(object, "<i4", "object", "number of the object"),
    TEXT(build_id, "S40", "the linker's build ID of the file, in hexadecimal; empty: the file has none",
         TEXT_WORD),
    TEXT(path, "S256", "path of the file; cut at 256 bytes", TEXT_NAME),
};

/* Searches the notes of an object for its build id. */
static const unsigned char *build_id_in(const char *note, size_t bytes, size_t *length)
{
    while (bytes >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *header = (const ElfW(Nhdr) *)note;
        size_t name = (header->n_namesz + 3u) & ~3u, text = (header->n_descsz + 3u) & ~3u;
        size_t whole = sizeof *header + name + text;
        if (whole > bytes)
            return NULL;
        const char *owner = note + sizeof *header;
        if (header->n_type == NT_GNU_BUILD_ID && header->n_namesz == 4 && memcmp(owner, "GNU", 4) == 0) {
            *length = header->n_descsz;
            return (const unsigned char *)owner + name;
        }
        note += whole;
        bytes -= whole;
    }
    return NULL;
}

static void describe_build(struct object *object, const struct dl_phdr_info *info)
{
    static const char HEX[] = "0123456789abcdef";
    size_t length = 0;
    const unsigned char *id = NULL;
    for (int i = 0; !id && i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_NOTE)
            id = build_id_in((const char *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
                             info->dlpi_phdr[i].p_memsz, &length);
    for (size_t i = 0; id && i < length && i < BUILD_ID_BYTES; i++) {
        object->what.build_id[2 * i] = HEX[id[i] >> 4];
        object->what.build_id[2 * i + 1] = HEX[id[i] & 15];
    }
}

/* Fills in the path of an object. The loader gives the program itself no name, so its path comes from /proc.
 */
static void describe_path(struct object *object, const char *name)
{
    ssize_t length = *name ? -1 : readlink("/proc/self/exe", object->what.path, sizeof object->what.path);
    if (length < 0)
        memcpy(object->what.path, name, strnlen(name, sizeof object->what.path));
}

static void describe_range(struct object *object, const struct dl_phdr_info *info)
{
    object->bias = info->dlpi_addr;
    object->begin = UINT64_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uint64_t begin = info->dlpi_addr + part->p_vaddr, end = begin + part->p_memsz;
        if (part->p_type != PT_LOAD)
            continue;
        object->begin = begin < object->begin ? begin : object->begin;
        object->end = end > object->end ? end : object->end;
    }
}

uint32_t object_era(uint64_t address)
{
    for (int i = 0; i < iolens_freed.count; i++)
        if (address >= iolens_freed.place[i].begin && address < iolens_freed.place[i].end)
            return iolens_freed.place[i].era;
    return 0;
}

static bool is_same(const struct object *object, const struct object *wanted)
{
    return object->begin == wanted->begin && object->end == wanted->end &&
           memcmp(object->what.path, wanted->what.path, sizeof object->what.path) == 0 &&
           memcmp(object->what.build_id, wanted->what.build_id, sizeof object->what.build_id) == 0;
}

/* Returns true if an object of the loader's list is already recorded, and marks it as seen. An object that is
 * loaded again keeps its entry, unless another object has been at its addresses meanwhile. */
static bool is_known(const struct objects *objects, const struct object *wanted)
{
    bool replaced = false;
    for (struct object *object = objects->newest; object; object = object->older) {
        if (is_same(object, wanted) && (!replaced || object->last_era == STILL_LOADED)) {
            object->last_era = STILL_LOADED;
            object->seen = true;
            return true;
        }
        replaced |= object_era(wanted->begin) < ERAS - 1 && object->begin < wanted->end &&
                    wanted->begin < object->end;
    }
    return false;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *context)
{
    struct objects *objects = context;
    struct object seen = {0};
    (void)size;
    describe_range(&seen, info);
    if (seen.begin >= seen.end)
        return 0;
    describe_path(&seen, info->dlpi_name);
    describe_build(&seen, info);
    if (is_known(objects, &seen))
        return 0;
    struct object *object = arena_alloc(&iolens.arena, sizeof *object);
    if (!object)
        return 1;
    seen.older = objects->newest;
    seen.last_era = STILL_LOADED;
    seen.seen = true;
    *object = seen;
    objects->newest = object;
    return 0;
}

struct loader_counts {
    uint64_t loaded, unloaded;
};

static int read_counts(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    *(struct loader_counts *)context = (struct loader_counts){info->dlpi_adds, info->dlpi_subs};
    return 1;
}

/* Notes objects that were loaded since the last call. The loader counts all objects that it ever loaded, so
 * an unchanged count means that there is nothing new. */
static void look(void *state)
{
    struct objects *objects = state;
    struct loader_counts now = {0};
    if (!table_state_known(TABLE_call_nodes))
        return;
    dl_iterate_phdr(read_counts, &now);
    if (now.loaded == objects->loaded)
        return;
    dl_iterate_phdr(look_at, objects);
    objects->loaded = now.loaded;
}

static struct objects *wanted_objects(void)
{
    bool needed = !iolens.lost && table_state_known(TABLE_call_nodes);
    return needed ? table_state(TABLE_objects) : NULL;
}

void objects_look(void)
{
    struct objects *objects = wanted_objects();
    if (objects)
        look(objects);
}

/* Ends the era of the addresses at which an object lay, because it was unloaded. */
static void free_addresses(struct object *object)
{
    struct freed_place *place = iolens_freed.place, *end = place + iolens_freed.count;
    while (place < end && (place->begin >= object->end || object->begin >= place->end))
        place++;
    if (place == iolens_freed.place + MOST_PLACES)
        return;
    object->last_era = place->era;
    if (place == end || object->begin < place->begin)
        place->begin = object->begin;
    if (object->end > place->end)
        place->end = object->end;
    place->era += place->era < ERAS - 1;
    iolens_freed.count += place == end;
}

void objects_unloaded(void)
{
    struct objects *objects = wanted_objects();
    struct loader_counts now = {0};
    if (!objects)
        return;
    dl_iterate_phdr(read_counts, &now);
    if (now.unloaded == objects->unloaded)
        return;
    objects->unloaded = now.unloaded;
    for (struct object *object = objects->newest; object; object = object->older)
        object->seen = false;
    dl_iterate_phdr(look_at, objects);
    for (struct object *object = objects->newest; object; object = object->older)
        if (!object->seen && object->last_era == STILL_LOADED)
            free_addresses(object);
}

/* Returns the object that contained an address in the given era, and the offset in its file; the address
 * itself if no known object contained it. Of several objects that lay there one after another, it is the
 * first that was unloaded after that era began. */
struct code_place object_place(uint64_t address, uint32_t era)
{
    const struct objects *objects = table_state_known(TABLE_objects);
    const struct object *object = NULL;
    for (const struct object *at = objects ? objects->newest : NULL; at; at = at->older)
        if (address >= at->begin && address < at->end && era <= at->last_era &&
            (!object || at->last_era < object->last_era))
            object = at;
    return object ? (struct code_place){.object = &object->what, .offset = address - object->bias}
                  : (struct code_place){.offset = address};
}

static bool validate(const void *state, const struct area *area)
{
    for (const struct object *object = ((const struct objects *)state)->newest; object;
         object = object->older)
        if (!area_holds(area, object, sizeof *object, 1))
            return false;
    return true;
}

static int64_t iolens_objects_of_all;

int64_t objects_known(void)
{
    const struct objects *objects = table_state_known(TABLE_objects);
    int64_t count = 0;
    for (const struct object *object = objects ? objects->newest : NULL; object; object = object->older)
        count++;
    return count;
}

int64_t objects_of_all(void) { return iolens_objects_of_all; }

static void count(int rank)
{
    (void)rank;
    if (table_state_known(TABLE_call_nodes))
        objects_look();
    iolens_objects_of_all = objects_known();
}

static void put_rows(struct buffer *rows, const struct chain_table *table, int64_t rank, uint32_t first)
{
    for (uint32_t i = 0; table && i < table->objects; i++) {
        struct row row = {.rank = rank, .object = (int32_t)(first + i)};
        const struct chain_object *object = &chain_objects(table)[i];
        memcpy(row.build_id, object->build_id, sizeof row.build_id);
        memcpy(row.path, object->path, sizeof row.path);
        buffer_put(rows, &row, sizeof row);
    }
}

/* Collects the rows of `objects`. Ranks for which there is no room write none, and their chains show
 * addresses instead of objects. */
static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    const struct chain_table *common = chain_numbers_common();
    if (transport->rank == 0)
        put_rows(rows, common, -1, 0);
    put_rows(rows, chain_numbers_own(), transport->rank, common ? common->objects : 0);
    uint64_t own = rows->used / sizeof(struct row), before = own;
    if (iolens_objects_of_all <= tables_most_rows(false))
        return;
    if (transport->exscan_sum(&before, 1) != 0)
        rows->failed = true;
    if (before + own > (uint64_t)tables_most_rows(false))
        rows->used = 0;
}

const struct process_table table_objects = {
    .name = "objects",
    .meaning = "The program and the libraries that contain the addresses in `call_nodes`",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct objects),
    .recording.validate = validate,
    .recording.beat = look,
    .merging.on_demand = true,
    .merging.state_of = TABLE_call_nodes,
    .merging.count = count,
    .merging.sums = &iolens_objects_of_all,
    .merging.sum_count = 1,
    .merging.collect = collect,
};
