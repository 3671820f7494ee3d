/* The STDIO module: initial values of a file's state, the condition for a record in the log, and work at the
 * end. */
#include "stdio_state.h"

/* Least number of bytes that a standard stream must move to or from a file to make the log worth keeping. */
enum { WORTH_A_LOG = 4096 };

static void stdio_init(void *state, struct file *file, int fd)
{
    struct stdio_state *s = state;
    (void)fd;
    s->record.base.id = file->id;
    if (file->path[0] == '<')
        s->record.ints[STDIO_OPENS] = 1; /* Standard streams are open from the start. */
}

/* Returns true if a standard stream is worth a log by itself: it was redirected to or from a file, as in
 * `sort <in >out`, and moved at least WORTH_A_LOG bytes. */
static bool stdio_matters(const void *state, const struct file *file)
{
    const int64_t *ints = ((const struct stdio_state *)state)->record.ints;
    return ints[STDIO_BYTES_READ] + ints[STDIO_BYTES_WRITTEN] >= WORTH_A_LOG &&
           streams_is_redirected(file->path);
}

static void stdio_flush(const void *state)
{
    heat_flush(&((const struct stdio_state *)state)->heat, HEATMAP_STDIO);
}

static void leave_open(struct stream *stream, int64_t left)
{
    struct stdio_state *s = left > 0 && streams_has_descriptor(stream) ? stdio_state_of(stream) : NULL;
    if (s)
        appending_exits(stream, s, left);
}

static void stdio_end(void)
{
    if (!streams_any_pending())
        return;
    appending_begin_exit();
    streams_each_open(leave_open);
}

#define COUNTERS "profiler/src/modules/stdio/stdio_counters.def"
#include "../merge_tables.h"

static const struct record_shape SHAPE = {
    .ints = STDIO_INTS,
    .doubles = STDIO_DOUBLES,
    .int_merge = INT_MERGE,
    .double_merge = DOUBLE_MERGE,
    .top = {SHAPE_NONE, SHAPE_NONE},
    .longest = {{SHAPE_NONE, SHAPE_NONE}, {SHAPE_NONE, SHAPE_NONE}},
    .fastest = STDIO_FASTEST_RANK,
    .fastest_seconds = STDIO_F_FASTEST_RANK_TIME,
    .seconds = {STDIO_F_READ_TIME, STDIO_F_WRITE_TIME, STDIO_F_META_TIME},
    .bytes = {STDIO_BYTES_READ, STDIO_BYTES_WRITTEN},
};

const struct module module_STDIO = {
    .id = 9,
    .version = 2,
    .name = "STDIO",
    .state_bytes = sizeof(struct stdio_state),
    .shape = &SHAPE,
    .reset = streams_reset,
    .init = stdio_init,
    .flush = stdio_flush,
    .matters = stdio_matters,
    .start = streams_start,
    .end = stdio_end,
};
