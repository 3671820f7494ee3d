#include "dxt.h"

#include "../../files/registry.h"
#include "../../memory/area.h"
#include "../../runtime/context.h"

enum { FIRST_CHUNK = 16, LARGEST_CHUNK = 1024 };

struct dxt_chunk {
    struct dxt_chunk *next;
    size_t size; /* Number of segments in the chunk; all but the last chunk of a trace are full. */
    struct dxt_segment segment[];
};

struct dxt_record {
    struct record_base base;
    int64_t shared; /* Always 0, as in Darshan. */
    char host[HOST_BYTES];
    int64_t writes, reads;
};

_Static_assert(sizeof(struct dxt_record) == 104, "struct dxt_record must have 104 bytes, as in Darshan");
_Static_assert(sizeof(struct dxt_segment) == 32, "struct dxt_segment must have 32 bytes, as in Darshan");

struct dxt *dxt_of(struct file *file, enum module_index module)
{
    return dxt_wants_file(file) ? registry_state(file, module, -1) : NULL;
}

/* Adds a chunk to a trace; returns false if memory or the limit does not allow it. Later calls are then not
 * traced. */
bool dxt_grow(struct dxt *dxt, struct dxt_trace *trace)
{
    size_t size = trace->last ? trace->last->size * 2 : FIRST_CHUNK;
    size = size < LARGEST_CHUNK ? size : LARGEST_CHUNK;
    size_t bytes = sizeof(struct dxt_chunk) + size * sizeof(struct dxt_segment);
    struct dxt_chunk *chunk = dxt_take(bytes) ? arena_alloc(&iolens.arena, bytes) : NULL;
    if (!chunk) {
        registry_leave_out(1u << dxt->module);
        return false;
    }
    chunk->size = size;
    *(trace->last ? &trace->last->next : &trace->first) = chunk;
    trace->last = chunk;
    trace->next = chunk->segment;
    trace->end = chunk->segment + size;
    return true;
}

/* Returns true for the last chunk of a trace, which is the one where the next segment goes. `trace->last`
 * cannot be used: in a copy made while the trace grew, it may be older or newer than `trace->next`. */
static bool is_last(const struct dxt_trace *trace, const struct dxt_chunk *chunk)
{
    return trace->next >= chunk->segment && trace->next <= chunk->segment + chunk->size;
}

static struct dxt_chunk *first_of(const struct dxt_trace *trace) { return trace->next ? trace->first : NULL; }

static struct dxt_chunk *next_of(const struct dxt_trace *trace, const struct dxt_chunk *chunk)
{
    return is_last(trace, chunk) ? NULL : chunk->next;
}

static size_t used_of(const struct dxt_trace *trace, const struct dxt_chunk *chunk)
{
    return is_last(trace, chunk) ? (size_t)(trace->next - chunk->segment) : chunk->size;
}

static size_t count(const struct dxt_trace *trace)
{
    size_t segments = 0;
    for (const struct dxt_chunk *chunk = first_of(trace); chunk; chunk = next_of(trace, chunk))
        segments += used_of(trace, chunk);
    return segments;
}

static void dxt_correct(void *state, const struct timeline *line)
{
    for (int direction = 0; direction < 2; direction++) {
        struct dxt_trace *trace = &((struct dxt *)state)->trace[direction];
        for (struct dxt_chunk *chunk = first_of(trace); chunk; chunk = next_of(trace, chunk)) {
            for (size_t i = 0; i < used_of(trace, chunk); i++) {
                chunk->segment[i].t0 = timeline_at(line, chunk->segment[i].t0);
                chunk->segment[i].t1 = timeline_at(line, chunk->segment[i].t1);
            }
        }
    }
}

static char *put_segments(char *at, const struct dxt_trace *trace)
{
    for (const struct dxt_chunk *chunk = first_of(trace); chunk; chunk = next_of(trace, chunk)) {
        size_t bytes = used_of(trace, chunk) * sizeof *chunk->segment;
        memcpy(at, chunk->segment, bytes);
        at += bytes;
    }
    return at;
}

/* Writes the head, then the segments of writes, then those of reads. */
static size_t dxt_serialize(const void *state, const struct file *file, int64_t rank, void *buffer)
{
    const struct dxt *dxt = state;
    size_t reads = count(&dxt->trace[false]), writes = count(&dxt->trace[true]);
    if (reads + writes == 0 || !dxt_keeps_file(file, rank))
        return 0;
    if (buffer) {
        struct dxt_record head = {
            .base = {file->id, rank}, .writes = (int64_t)writes, .reads = (int64_t)reads};
        memcpy(head.host, iolens.identity.host, sizeof head.host);
        memcpy(buffer, &head, sizeof head);
        put_segments(put_segments((char *)buffer + sizeof head, &dxt->trace[true]), &dxt->trace[false]);
    }
    return sizeof(struct dxt_record) + (reads + writes) * sizeof(struct dxt_segment);
}

static void dxt_posix_init(void *state, struct file *file, int fd)
{
    (void)file, (void)fd;
    ((struct dxt *)state)->module = MODULE_DXT_POSIX;
}

static void dxt_mpiio_init(void *state, struct file *file, int fd)
{
    (void)file, (void)fd;
    ((struct dxt *)state)->module = MODULE_DXT_MPIIO;
}

/* Returns true if a trace in the spool is whole. Each chunk must lie after the previous one in memory, so
 * that a damaged list cannot be endless. */
static bool trace_validate(const struct dxt_trace *trace, const struct area *area)
{
    const struct dxt_chunk *before = NULL;
    for (const struct dxt_chunk *chunk = first_of(trace); chunk;
         before = chunk, chunk = next_of(trace, chunk))
        if (chunk <= before || !area_holds(area, chunk, sizeof *chunk, 1) ||
            !area_holds(area, chunk->segment, sizeof *chunk->segment, chunk->size))
            return false;
    return !before || is_last(trace, before);
}

static bool dxt_validate(const void *state, const struct area *area)
{
    const struct dxt *dxt = state;
    return trace_validate(&dxt->trace[0], area) && trace_validate(&dxt->trace[1], area);
}

const struct module module_DXT_POSIX = {
    .id = 10,
    .version = 1,
    .name = "DXT_POSIX",
    .state_bytes = sizeof(struct dxt),
    .row_bytes = sizeof(struct dxt_segment),
    .limit = "IOLENS_DXT_MEMORY",
    .per_rank = true,
    .start = dxt_start,
    .reset = dxt_reset,
    .init = dxt_posix_init,
    .validate = dxt_validate,
    .correct = dxt_correct,
    .serialize = dxt_serialize,
};

const struct module module_DXT_MPIIO = {
    .id = 11,
    .version = 2,
    .name = "DXT_MPIIO",
    .state_bytes = sizeof(struct dxt),
    .row_bytes = sizeof(struct dxt_segment),
    .limit = "IOLENS_DXT_MEMORY",
    .per_rank = true,
    .init = dxt_mpiio_init,
    .validate = dxt_validate,
    .correct = dxt_correct,
    .serialize = dxt_serialize,
};
