/* Tests the heat map without a clock, for times that no test could wait for; the bytes per bin were computed
 * by hand. */
#define _GNU_SOURCE
#include "../../profiler/src/modules/timelines/heatmap.c"
#include "../../profiler/src/system/system_call.c"
#include "posix_expect.h"

struct context iolens;
const char *spin_single_threaded = "";
atomic_int spin_patience;
static struct heatmap map;
static struct heat heat;

void spool_beat(void) {}

struct file *registry_file(const char *name)
{
    static struct file file;
    MUST(strcmp(name, "heatmap:POSIX") == 0);
    return &file;
}

void *registry_state(struct file *file, enum module_index module, int fd)
{
    MUST(module == MODULE_HEATMAP);
    if (map.width == 0)
        heatmap_init(&map, file, fd);
    return &map;
}

static void call(bool writing, int64_t bytes, double t0, double t1)
{
    heat_add(&heat, HEATMAP_POSIX, writing, bytes, t0, t1);
}

/* Checks the bytes written in a bin, and that all other bins together hold `rest`. */
static void expect(int bin, int64_t bytes, int64_t rest)
{
    int64_t sum = 0;
    for (int i = 0; i < BINS; i++)
        sum += map.bytes[true][i];
    MUST(map.bytes[true][bin] == bytes);
    MUST(sum - map.bytes[true][bin] == rest);
}

static void bytes_are_spread_over_the_time_of_the_call(void)
{
    call(true, 7, 0.01, 0.02);
    /* The call lasts over three bins, which get a quarter, a half and a quarter of its bytes. */
    call(true, 1001, 0.05, 0.25);
    call(false, 5, 0.26, 0.27);
    heat_flush(&heat, HEATMAP_POSIX);
    heat = (struct heat){0};
    expect(0, 7 + 250, 751);
    expect(1, 500, 508);
    expect(2, 251, 757);
    MUST(map.bytes[false][2] == 5);
}

static void bins_are_merged_in_pairs_when_time_goes_beyond(void)
{
    struct heat late = {0};
    /* These bytes wait in their file's current bin until a call on another file has widened all bins of the
     * map. */
    call(true, 3, 19.95, 19.96);
    heat_add(&late, HEATMAP_POSIX, true, 9, 70.0, 70.0);
    MUST(map.width == 0.4);
    call(true, 2, 19.97, 19.98);
    heat_flush(&heat, HEATMAP_POSIX);
    heat_flush(&late, HEATMAP_POSIX);
    expect(0, 1008, 14);
    expect(49, 5, 1017);
    expect(175, 9, 1013);
}

/* Checks that a rank's map is converted to the job's bins. This rank's clock runs half as fast as the job's,
 * which started 2 s earlier: 0.4 s here are 0.8 s there, and what lay in 0 to 0.4 s lies in 2 to 2.8 s. */
static void all_ranks_have_the_bins_of_the_job(void)
{
    const struct timeline line = {.factor = 2, .shift = 2, .end = 142.5};
    struct heatmap_record head;
    static char buffer[sizeof head + 2 * BINS * sizeof(int64_t)];
    heatmap_correct(&map, &line);
    MUST(map.width == 0.8 && map.bins == 179);
    expect(2, 504, 518);
    expect(3, 504, 518);
    expect(51, 2, 1020);
    expect(52, 3, 1019);
    expect(177, 4, 1018);
    expect(178, 5, 1017);
    const struct file file = {.id = 77};
    MUST(heatmap_serialize(&map, &file, 3, NULL) == sizeof head + 2 * 179 * 8);
    heatmap_serialize(&map, &file, 3, buffer);
    memcpy(&head, buffer, sizeof head);
    MUST(head.base.id == 77 && head.base.rank == 3 && head.width == 0.8 && head.bins == 179);
    MUST(memcmp(buffer + sizeof head + 8 * 179, map.bytes[false], 8 * 179) == 0);
}

static void a_hair_of_difference_between_clocks_spreads_nothing(void)
{
    struct heatmap one = {.width = 0.1};
    const struct timeline line = {.factor = 1.0002, .shift = 0.004, .end = 12};
    for (int bin = 0; bin < 110; bin += 2)
        one.bytes[true][bin] = 1000;
    heatmap_correct(&one, &line);
    for (int bin = 0; bin < 110; bin++)
        MUST(one.bytes[true][bin] == (bin % 2 == 0 ? 1000 : 0));
}

static void a_map_without_bytes_has_no_record(void)
{
    struct heatmap empty = {.width = 0.1};
    const struct timeline line = {.factor = 1, .end = 0};
    const struct file file = {.id = 1};
    heatmap_correct(&empty, &line);
    MUST(empty.bins == 1);
    MUST(heatmap_serialize(&empty, &file, 0, NULL) == 0);
}

int main(void)
{
    bytes_are_spread_over_the_time_of_the_call();
    bins_are_merged_in_pairs_when_time_goes_beyond();
    all_ranks_have_the_bins_of_the_job();
    a_hair_of_difference_between_clocks_spreads_nothing();
    a_map_without_bytes_has_no_record();
    return 0;
}
