#include <sys/mman.h>

#include "../files/registry.h"
#include "../lifecycle/lifecycle.h"
#include "../runtime/context.h"
#include "../system/hash.h"
#include "../tables/process_table.h"
#include "recover.h"

/* No machine runs MOST_RANKS ranks; the limit bounds the memory for tables of ranks. */
enum { MIB = 1024 * 1024, SCRATCH_MIB = 512, MOST_RANKS = 1 << 24 };

static const struct area NOWHERE = {0};

static bool is_place(uint64_t base)
{
    return base >= SPOOL_FIRST_PLACE && (base - SPOOL_FIRST_PLACE) % SPOOL_PLACE_BYTES == 0 &&
           (base - SPOOL_FIRST_PLACE) / SPOOL_PLACE_BYTES < SPOOL_PLACES;
}

static bool ends(const char *text, size_t bytes) { return memchr(text, '\0', bytes) != NULL; }

#define ENDS(text) ends(text, sizeof(text))

/* Returns true if the process's identity in the spool is whole. The checksum detects damage. A spool that was
 * forged may have a correct checksum, so the texts are checked too. */
static bool identity_validate(const struct spool_header *header)
{
    const struct identity *self = &header->identity;
    return header->identity_hash == identity_hash(self) && ENDS(self->host) && ENDS(self->user) &&
           ENDS(self->program) && ENDS(self->io_component) && ENDS(self->environment) &&
           ENDS(self->command) && ENDS(self->compiler) && ENDS(self->mounts) && ENDS(self->processor.name);
}

/* Returns true if a bool in the spool holds 0 or 1. Reading any other value as a bool is undefined, so its
 * byte is checked. */
static bool is_truth(const bool *value) { return *(const unsigned char *)value <= 1; }

static bool is_rate(const struct clock_rate *rate) { return rate->unit >= 0 && rate->unit < 1; }

static bool header_validate(const struct spool_header *header)
{
    return is_place(header->base) && identity_validate(header) && ENDS(header->job.host) &&
           ENDS(header->mpi_version) && ENDS(header->io_component) && ENDS(header->log) &&
           ENDS(header->process.boot) && is_truth(&header->clock.tsc) && is_truth(&header->clock.forbidden) &&
           is_rate(&header->clock.tick) && is_rate(&header->clock.ns) && header->ranks >= 0 &&
           header->ranks <= MOST_RANKS &&
           (header->ranks == 0 || (header->rank >= 0 && header->rank < header->ranks)) &&
           is_truth(&header->offsets.first) && is_truth(&header->offsets.ended);
}

static const char *const nothing_recorded =
    "it is not a spool, or the process ended before it began to record";

/* Returns the reason why these bytes are not a valid header of a spool; NULL if they are valid. */
static const char *fault_of(const struct spool_header *header)
{
    if (memcmp(header->magic, SPOOL_MAGIC, sizeof header->magic) != 0)
        return nothing_recorded;
    if (header->layout != recording_layout())
        return "another version of iolens wrote it; use the `iolens recover` of that version";
    if (!header_validate(header))
        return "its header is damaged";
    return NULL;
}

const char *load_fault(const char *path, struct spool_header *header)
{
    struct stat info;
    memset(header, 0, sizeof *header);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    const char *fault = fd < 0 || fstat(fd, &info) != 0 ? strerror(errno) : NULL;
    if (!fault && !S_ISREG(info.st_mode))
        fault = "it is not a regular file";
    if (!fault && pread(fd, header, sizeof *header, 0) != (ssize_t)sizeof *header)
        fault = info.st_size == 0 ? nothing_recorded : "it is shorter than the header of a spool";
    if (fd >= 0)
        close(fd);
    return fault ? fault : fault_of(header);
}

bool load_header(const char *path, struct spool_header *header)
{
    const char *fault = load_fault(path, header);
    if (fault)
        iolens_say("%s cannot be used: %s", path, fault);
    return !fault;
}

const char *load_text(const struct spool_header *header, const char *text)
{
    uintptr_t offset = (uintptr_t)text - header->base - offsetof(struct spool_header, text);
    bool inside = offset < sizeof header->text && ends(header->text + offset, sizeof header->text - offset);
    return inside ? header->text + offset : "";
}

static bool fill(int fd, char *pages, size_t offset, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        ssize_t got = pread(fd, pages + done, bytes - done, (off_t)(offset + done));
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

/* Returns the size of the file in whole pages; 0 if it cannot be a spool. */
static size_t mappable_bytes(int fd)
{
    struct stat info;
    bool fits = fd >= 0 && fstat(fd, &info) == 0 && info.st_size >= SPOOL_HEADER_BYTES &&
                (uint64_t)info.st_size <= SPOOL_PLACE_BYTES;
    return fits ? (size_t)info.st_size & ~(size_t)4095 : 0;
}

static bool map_piece(int fd, char *place, size_t offset, size_t bytes, bool running)
{
    int flags = MAP_PRIVATE | MAP_FIXED_NOREPLACE | (running ? MAP_ANONYMOUS : 0);
    char *pages =
        mmap(place, bytes, PROT_READ | PROT_WRITE, flags, running ? -1 : fd, running ? 0 : (off_t)offset);
    return pages == place && (!running || fill(fd, pages, offset, bytes));
}

/* Maps the file's pages at the address that they had in their process; `area` receives the part behind the
 * header. The pages of a running process are copied, so that nothing changes after it was checked. Pages
 * that the process adds in the meantime are copied too, since earlier pages may point to them. */
static bool map_spool(const char *path, uint64_t base, bool running, struct area *area)
{
    char *pages = (char *)base;
    size_t done = 0, bytes;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool mapped = true;
    while (mapped && (bytes = mappable_bytes(fd)) > done) {
        mapped = map_piece(fd, pages + done, done, bytes - done, running);
        done = bytes;
    }
    if (fd >= 0)
        close(fd);
    *area = (struct area){pages + SPOOL_HEADER_BYTES, pages + done, pages_alloc(done / AREA_GRAIN)};
    return mapped && area->claimed;
}

static const char *setting(const struct area *texts, const char *value, const char *otherwise)
{
    return value && area_text(texts, value) ? value : otherwise;
}

static void load_settings(const struct spool_header *header, const struct area *texts)
{
#define SETTING(field, variable, alternative, value, meaning)                                                \
    iolens.settings.field = setting(texts, header->settings.field, value);
#include "../runtime/settings.def"
#undef SETTING
}

static void load_process(const struct spool_header *header)
{
    iolens.pid = (pid_t)header->job.pid;
    iolens.jobid = header->jobid;
    iolens.fork_parent = (pid_t)header->fork_parent;
    iolens.finalized = header->finalized;
    iolens.origin = header->origin;
    iolens.clock = header->clock;
    iolens.offsets = header->offsets;
    memcpy(iolens.io_component, header->io_component, sizeof iolens.io_component);
    iolens.identity = header->identity;
    arena_start(&iolens.arena, (size_t)SCRATCH_MIB * MIB, NULL);
}

/* Returns the latest end in an unfinished record, whose doubles are all times or durations; -1 if one of them
 * cannot be a time. */
static double last_event(const struct record_shape *shape, void *state)
{
    const double *seconds = shape_doubles(shape, state);
    double last = 0;
    for (int i = 0; i < shape->doubles; i++) {
        if (!is_measured_time(seconds[i]))
            return -1;
        if (shape->double_merge[i] == MERGE_END && seconds[i] > last)
            last = seconds[i];
    }
    return last;
}

static void load_states(struct file *file, const struct area *area, double *last)
{
    file->shared = 0;
    file->next_shared = NULL;
    tables_load_file(file, area);
    for (int m = 0; m < MODULE_COUNT; m++) {
        void *state = file->state[m];
        const struct module *type = modules[m];
        if (!state)
            continue;
        bool valid = area_holds(area, state, type->state_bytes, 1);
        double event = valid && type->shape ? last_event(type->shape, state) : 0;
        if (!valid || event < 0 || (type->validate && !type->validate(state, area))) {
            file->state[m] = NULL;
            registry_leave_out(1u << m);
            continue;
        }
        if (*last < event)
            *last = event;
        registry_count(file, m);
    }
}

/* Loads the files of the spool. Each file must lie behind the previous one in memory, so that a damaged list
 * cannot be endless. A file whose id does not match its path is damaged and is left out. */
static void load_files(struct file *first, const struct area *area, double *last)
{
    struct file *next;
    const struct file *before = NULL;
    for (struct file *file = first; file; before = file, file = next) {
        if (file <= before || !area_holds(area, file, sizeof *file, 1)) {
            registry_leave_out(~0u);
            return;
        }
        next = file->next;
        if (area_text(area, file->path) && record_id(file->path, strlen(file->path)) == file->id &&
            !registry_find(file->id)) {
            load_states(file, area, last);
            registry_adopt(file);
        } else {
            registry_leave_out(~0u);
        }
    }
}

/* Sets the time at which the recording of a spool ended. A process that still runs is on this node and reads
 * the same clocks, so for its spool this is the present time. */
static void load_end(const struct spool_header *header, bool running, double last_event_at)
{
    struct clock_end end = running ? clock_end(&header->clock)
                                   : clock_end_at(&header->clock, header->beat_ticks, header->beat_ns);
    if (!is_measured_time(end.recorded))
        end.recorded = 0;
    if (!(end.correction > 0.5 && end.correction < 2))
        end.correction = 1;
    if (end.recorded < last_event_at)
        end.recorded = last_event_at;
    iolens.ended = end;
}

bool load_spool(const char *path, bool running)
{
    struct spool_header header;
    struct area area;
    if (!load_header(path, &header))
        return false;
    if (!map_spool(path, header.base, running, &area)) {
        iolens_say("%s cannot be used: mapping the file into memory failed", path);
        return false;
    }
    load_process(&header);
    const struct spool_header *mapped = (const struct spool_header *)(area.begin - SPOOL_HEADER_BYTES);
    const struct area texts = {mapped->text, mapped->text + sizeof mapped->text, NULL};
    load_settings(&header, &texts);
    recording_start();
    recording_reset();
    iolens_registry.partial = header.partial;
    double last = tables_load(&header, &area);
    load_files(header.first, &area, &last);
    pages_free(area.claimed, (size_t)(area.end - (const char *)mapped) / AREA_GRAIN);
    load_end(&header, running, last);
    return true;
}

void load_stand_in(const struct spool_header *header)
{
    load_process(header);
    iolens.stand_in = true;
    load_settings(header, &NOWHERE);
    recording_start();
    recording_reset();
    load_end(header, false, 0);
}
