#include "heatmap.h"

#include "../../files/registry.h"
#include "../../runtime/context.h"
#include "../../spool/spool.h"
#include "../../system/float_state.h"

enum { BINS = 200 };

static const double FIRST_WIDTH = 0.1;

/* Names that PyDarshan knows; their hashes are the record ids. */
static const char *const NAME[HEATMAP_APIS] = {
    [HEATMAP_POSIX] = "heatmap:POSIX", [HEATMAP_STDIO] = "heatmap:STDIO", [HEATMAP_MPIIO] = "heatmap:MPIIO"};

struct heatmap {
    struct spin lock;
    double width;           /* Width of a bin in seconds. */
    int64_t bins;           /* Number of bins in the record; known at the end. */
    int64_t bytes[2][BINS]; /* Bytes read and written. */
};

struct heatmap_record {
    struct record_base base;
    double width;
    int64_t bins;
    int64_t pointers[2]; /* Darshan's structure has pointers here; their values in a log mean nothing. */
};

_Static_assert(sizeof(struct heatmap_record) == 48,
               "struct heatmap_record must have 48 bytes, as in Darshan");

static void heatmap_init(void *state, struct file *file, int fd)
{
    (void)file, (void)fd;
    ((struct heatmap *)state)->width = FIRST_WIDTH;
}

static bool heatmap_validate(const void *state, const struct area *area)
{
    (void)area;
    return ((const struct heatmap *)state)->width >= FIRST_WIDTH &&
           is_measured_time(((const struct heatmap *)state)->width);
}

/* State of each kind of heat map; NULL until the first transfer. */
static void *_Atomic iolens_heatmaps[HEATMAP_APIS];

static void heatmap_reset(void)
{
    for (int api = 0; api < HEATMAP_APIS; api++)
        iolens_heatmaps[api] = NULL;
}

static struct heatmap *map_of(enum heatmap_api api)
{
    struct heatmap *map = iolens_heatmaps[api];
    if (!map) {
        struct file *name = registry_file(NAME[api]);
        map = name ? registry_state(name, MODULE_HEATMAP, -1) : NULL;
        iolens_heatmaps[api] = map;
    }
    return map;
}

static int bin_of(double width, double time) { return time > 0 ? (int)(time / width) : 0; }

static void merge_pairs(struct heatmap *map)
{
    for (int direction = 0; direction < 2; direction++) {
        int64_t *bytes = map->bytes[direction];
        for (int i = 0; i < BINS / 2; i++)
            bytes[i] = bytes[2 * i] + bytes[2 * i + 1];
        memset(bytes + BINS / 2, 0, BINS / 2 * sizeof *bytes);
    }
    map->width *= 2;
}

/* Spreads `bytes` evenly over the bins of `width` seconds between t0 and t1. The share of the last bin, which
 * contains t1, is returned and not added. */
static int64_t spread(int64_t *bins, double width, int64_t bytes, double t0, double t1)
{
    int64_t done = 0;
    for (int i = bin_of(width, t0), last = bin_of(width, t1); i < last; i++) {
        int64_t until = (int64_t)((double)bytes * (((i + 1) * width - t0) / (t1 - t0)));
        bins[i] += until - done;
        done = until;
    }
    return bytes - done;
}

static void flush(struct heatmap *map, const struct heat *heat)
{
    int bin = bin_of(map->width, (heat->begin + heat->end) / 2);
    for (int direction = 0; direction < 2; direction++)
        map->bytes[direction][bin] += heat->bytes[direction];
}

/* Adds a transfer that ends in another bin than the file's present one. If the map cannot be allocated, this
 * file's bytes are missing in the heat map. */
void heat_move(struct heat *heat, enum heatmap_api api, bool writing, int64_t bytes, double t0, double t1)
{
    struct heatmap *map = map_of(api);
    if (!map) {
        heat->end = INFINITY;
        return;
    }
    spool_beat();
    struct float_state state = float_hold();
    spin_lock(&map->lock);
    flush(map, heat);
    *heat = (struct heat){0};
    while (bin_of(map->width, t1) >= BINS)
        merge_pairs(map);
    int last = bin_of(map->width, t1);
    heat->bytes[writing] = spread(map->bytes[writing], map->width, bytes, t0, t1);
    heat->begin = last * map->width;
    heat->end = heat->begin + map->width;
    spin_unlock(&map->lock);
    float_release(&state);
}

void heat_flush(const struct heat *heat, enum heatmap_api api)
{
    struct heatmap *map = heat->end > 0 && heat->end < INFINITY ? map_of(api) : NULL;
    if (map && (heat->begin + heat->end) / 2 < map->width * BINS)
        flush(map, heat);
}

/* Makes an empty map whose bins cover the job's time; the map has the same bins on all ranks. */
static struct heatmap map_until(double end)
{
    struct heatmap map = {.width = FIRST_WIDTH};
    while (end > map.width * BINS)
        map.width *= 2;
    map.bins = bin_of(map.width, end);
    map.bins += map.bins < BINS && (map.bins == 0 || (double)map.bins * map.width < end);
    return map;
}

/* Moves a time that is close to the edge of a bin to that edge, but never beyond the last bin. Without this,
 * a rank whose clock runs slightly faster would put a little of every burst into the neighbouring bin. */
static double to_edge(const struct heatmap *map, double time)
{
    const double near = 0.1;
    double bins = time / map->width, edge = (double)bin_of(1, bins + 0.5);
    bins = bins - edge < near && edge - bins < near ? edge : bins;
    return (bins < (double)map->bins ? bins : (double)map->bins) * map->width;
}

/* Converts bins of the rank's clock into bins of the job's clock. */
static void heatmap_correct(void *state, const struct timeline *line)
{
    struct heatmap *map = state, corrected = map_until(line->end);
    for (int direction = 0; direction < 2; direction++) {
        int64_t *bins = corrected.bytes[direction];
        for (int i = 0; i < BINS; i++) {
            if (map->bytes[direction][i] == 0)
                continue;
            double t0 = to_edge(&corrected, timeline_at(line, i * map->width));
            double t1 = to_edge(&corrected, timeline_at(line, (i + 1) * map->width));
            int64_t last = bin_of(corrected.width, t1);
            last = last < corrected.bins ? last : corrected.bins - 1;
            bins[last] += spread(bins, corrected.width, map->bytes[direction][i], t0, t1);
        }
    }
    *map = corrected;
}

static bool is_empty(const struct heatmap *map)
{
    for (int i = 0; i < BINS; i++)
        if (map->bytes[0][i] > 0 || map->bytes[1][i] > 0)
            return false;
    return true;
}

/* Writes the head, then the bins of written bytes, then those of read bytes. */
static size_t heatmap_serialize(const void *state, const struct file *file, int64_t rank, void *buffer)
{
    const struct heatmap *map = state;
    const struct heatmap_record head = {.base = {file->id, rank}, .width = map->width, .bins = map->bins};
    size_t bytes = (size_t)map->bins * sizeof *map->bytes[0];
    if (is_empty(map))
        return 0;
    if (buffer) {
        char *at = buffer;
        memcpy(at, &head, sizeof head);
        memcpy(at + sizeof head, map->bytes[true], bytes);
        memcpy(at + sizeof head + bytes, map->bytes[false], bytes);
    }
    return sizeof head + 2 * bytes;
}

const struct module module_HEATMAP = {
    .id = 15,
    .version = 1,
    .name = "HEATMAP",
    .state_bytes = sizeof(struct heatmap),
    .per_rank = true,
    .reset = heatmap_reset,
    .init = heatmap_init,
    .validate = heatmap_validate,
    .correct = heatmap_correct,
    .serialize = heatmap_serialize,
};
