#include "../logfile/writer.h"
#include "../ranks/reduce.h"
#include "../ranks/serial.h"
#include "../runtime/context.h"
#include "../system/hash.h"
#include "../system/signals.h"
#include "lifecycle.h"

#define NS_PER_SECOND 1e9

struct job_times {
    int64_t start_ns, end_ns; /* Nanoseconds since 1970; valid on rank 0. */
    size_t candidates;        /* Number of files of rank 0 that all ranks may share. */
    bool agree;               /* True if a module has data that the ranks must agree on. */
};

/* Returns by how much this rank's clock drifts against rank 0's, as a share: positive if this clock runs
 * faster; 0 if not measured. */
static double drift(const struct clock_offsets *offsets)
{
    int64_t between = offsets->end.at_ns - offsets->begin.at_ns;
    bool measured = offsets->clocks > 1 && offsets->ended && between > 0;
    return measured ? (double)(offsets->end.ns - offsets->begin.ns) / (double)between : 0;
}

/* Returns the moment that all ranks agreed on as zero of their clocks, in seconds since this rank began; 0 if
 * there was none. */
static double zero_of(const struct clock_offsets *offsets)
{
    double since = (double)(offsets->zero_ns - (int64_t)iolens.clock.base_ns) / NS_PER_SECOND;
    return is_measured_time(since) ? since : 0;
}

/* Returns a checksum of the program's name, by which ranks compare their programs; a double holds it
 * exactly. */
static double program_number(void)
{
    char program[PROGRAM_BYTES];
    program_label(&iolens.identity, program);
    return (double)(record_id(program, strlen(program)) >> (64 - DBL_MANT_DIG));
}

/* Converts all ranks' times to rank 0's clock, starting when the first rank began. The same call tells all
 * ranks how many ids rank 0 will send, whether modules have to agree on data, and whether ranks run different
 * programs. */
static struct job_times finish_clock(const struct iolens_transport *transport)
{
    const struct clock_offsets *offsets = &iolens.offsets;
    double faster = drift(offsets), factor = iolens.ended.correction * (1 - faster);
    double mine = zero_of(offsets) * (1 - faster);
    mine += (double)(offsets->zero_ns - offsets->begin.at_ns) / NS_PER_SECOND * faster;
    double elapsed = iolens.ended.recorded * factor;
    /* One collective call agrees on the longest times before and after the common moment and on the other
       numbers. All are doubles, which hold each of these counts exactly. */
    double program = program_number();
    double latest[6] = {
        mine,    elapsed - mine, transport->rank == 0 ? (double)shared_candidates() : 0, reduce_speaks(),
        program, -program};
    if (transport->allreduce(latest, 6, IOLENS_DOUBLE, IOLENS_MAX) != 0)
        latest[0] = mine;
    double shift = latest[0] - mine;
    iolens.timeline = (struct timeline){.factor = factor, .shift = shift, .end = latest[0] + latest[1]};
    iolens.programs_differ = latest[4] > -latest[5];
    int64_t start = clock_start_ns(&iolens.clock) - (int64_t)(shift * 1e9);
    /* The job ends at the first whole nanosecond after all recorded times, so that no time lies after its
       end. */
    int64_t end = start + (int64_t)(iolens.timeline.end * 1e9) + 1;
    return (struct job_times){start, end, (size_t)latest[2], latest[3] > 0};
}

static void add_job(struct writer *writer, const struct iolens_transport *transport, struct job_times times)
{
    struct buffer part = {0};
    if (transport->rank == 0) {
        struct log_job job;
        jobinfo_job(&job, transport->size, times.start_ns, times.end_ns);
        buffer_put(&part, &job, sizeof job);
        char *text = path_room_take();
        size_t bytes = 0;
        places_gather();
        if (text)
            bytes = command_text(text, iolens.identity.command, iolens.identity.mounts,
                                 iolens.settings.mounts, places_is_used);
        buffer_put(&part, text, bytes);
        path_room_give(text);
    }
    writer_add(writer, &part, false);
    buffer_free(&part);
}

static int add_names(struct writer *writer, const struct iolens_transport *transport)
{
    struct buffer part = {0};
    reduce_names(transport->rank, &part);
    int region = writer_add(writer, &part, transport->rank == 0);
    buffer_free(&part);
    return region;
}

static void add_modules(struct writer *writer, const struct iolens_transport *transport,
                        int region[MODULE_COUNT])
{
    for (int m = 0; m < MODULE_COUNT; m++) {
        struct records records;
        if (reduce_records(transport, m, &records) != 0)
            writer_fail(writer, ENOMEM);
        region[m] = writer_add_records(writer, &records);
    }
}

/* Fills in the log's header. A module is marked partial if it has a region and any rank left out some or all
 * of its files. */
static void write_header(struct writer *writer, int names, const int region[MODULE_COUNT])
{
    struct log_header header = {.version = LOG_VERSION, .magic = LOG_MAGIC};
    header.names = writer->region[names].span;
    for (int m = 0; m < MODULE_COUNT; m++) {
        struct log_span span = writer->region[region[m]].span;
        header.modules[modules[m]->id] = span;
        header.module_versions[modules[m]->id] = modules[m]->version;
        bool lacks = iolens_registry.ranks_partial[m] || iolens_registry.ranks_partial[RANKS_WITHOUT_MEMORY];
        header.partial |= (uint64_t)(span.bytes > 0 && lacks) << modules[m]->id;
    }
    writer_put(writer, 0, &header, sizeof header);
}

static void create(struct writer *writer, const struct iolens_transport *transport, int64_t start_ns)
{
    char name[PATH_BYTES];
    int n = 0;
    do {
        log_name(name, start_ns, ++n);
        if (transport->rank == 0)
            log_name_folders(name);
    } while (!writer_create(writer, transport, name, iolens.settings.logfile));
}

/* Reads facts that only the recording process itself can tell. Does nothing for a process that has already
 * ended and whose spool is being read. Returns false if the records cannot be finished without changing the
 * records in the spool. */
static bool read_process(void)
{
    if (iolens.lost)
        return true;
    for (int m = 0; m < MODULE_COUNT; m++)
        if (modules[m]->end)
            modules[m]->end();
    iolens.ended = clock_end(&iolens.clock);
    const struct spool_header *header = iolens_spool.header;
    places_gather();
    identity_read(&iolens.identity, header ? &header->identity : NULL, places_is_used);
    origin_follow(&iolens.origin);
    return spool_freeze();
}

/* Collective. Writes the regions and, on rank 0, the directory of their places. */
static void write_regions(struct writer *writer, const struct iolens_transport *transport,
                          struct job_times times)
{
    int module_region[MODULE_COUNT];
    writer_open(writer, transport, sizeof(struct log_header));
    add_job(writer, transport, times);
    int names = add_names(writer, transport);
    add_modules(writer, transport, module_region);
    int private = private_add(writer, transport);
    writer_put_regions(writer, transport);
    if (transport->rank != 0)
        return;
    private_finish(writer, private);
    write_header(writer, names, module_region);
}

/* Leaves this rank's records out of the log if it has no memory for them, so that the other ranks still get
 * their log. Returns false if this process must write its records and cannot. */
static bool prepare(const struct iolens_transport *transport)
{
    bool alone = transport == &serial_transport || iolens.lost;
    bool poor = !alone && !reserve_release(), complete = read_process();
    if (alone)
        return complete;
    iolens.starved = poor || !complete;
    if (iolens.starved)
        recording_reset();
    return true;
}

bool finish_log(const struct iolens_transport *transport, char log[PATH_BYTES])
{
    struct writer writer;
    struct held_signal held = signal_hold(SIGXFSZ);

    bool finishing = prepare(transport);
    struct job_times times = finish_clock(transport);
    if (finishing)
        reduce_flush_states();
    bool merging = transport != &serial_transport && !settings_true(iolens.settings.unmerged);
    const struct iolens_transport *together = in_step_open(transport);
    bool agreed = !merging || shared_find(together, times.candidates) == 0;
    if (times.agree)
        reduce_agree(together);
    create(&writer, transport, times.start_ns);
    if (!agreed || !finishing)
        writer_fail(&writer, ENOMEM);
    write_regions(&writer, together, times);
    writer_in_step(&writer, in_step_close());
    bool written = writer_close(&writer, transport->rank == 0 ? log_name_mode() : 0);
    memcpy(log, writer.name.text, PATH_BYTES);
    signal_release(&held);
    return written;
}

enum { LEAST_BYTES = 4 << 20, COPIES = 2 };

static struct {
    void *pages;
    size_t bytes;
} iolens_reserve;

/* Reserves memory for writing the log. Rank 0 reserves more, because it gathers the names of hosts and
 * programs of all ranks. */
void reserve_hold(int rank, int ranks)
{
    size_t names = rank == 0 ? (size_t)ranks * 2 * HOST_BYTES : 0;
    iolens_reserve.bytes = LEAST_BYTES + names;
    iolens_reserve.pages = pages_alloc(iolens_reserve.bytes);
}

/* Gives the reserved memory back, and returns true if there is now enough for writing the log. Writing needs
 * a copy of the records beside the records themselves, because all parts of the log are in memory until the
 * last one is complete. */
bool reserve_release(void)
{
    if (!iolens_reserve.pages)
        return true;
    size_t needed = COPIES * iolens.arena.taken + iolens_reserve.bytes;
    pages_free(iolens_reserve.pages, iolens_reserve.bytes);
    iolens_reserve.pages = NULL;
    void *pages = pages_alloc(needed);
    pages_free(pages, needed);
    return pages != NULL;
}
