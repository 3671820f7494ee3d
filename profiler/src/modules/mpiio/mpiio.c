#include "mpiio.h"

#include "../../files/names.h"
#include "../../spool/spool.h"
#include "../histogram.h"
#include "../posix/extra.h"
#include "../posix/posix.h"
#include "../timer.h"

enum { READ_END, WRITE_END, META_END };
enum { NOTHING, READING, WRITING };

static const enum mpiio_int COUNTER[] = {
    [IOLENS_INDEP_READ] = MPIIO_INDEP_READS, [IOLENS_INDEP_WRITE] = MPIIO_INDEP_WRITES,
    [IOLENS_COLL_READ] = MPIIO_COLL_READS,   [IOLENS_COLL_WRITE] = MPIIO_COLL_WRITES,
    [IOLENS_SPLIT_READ] = MPIIO_SPLIT_READS, [IOLENS_SPLIT_WRITE] = MPIIO_SPLIT_WRITES,
    [IOLENS_NB_READ] = MPIIO_NB_READS,       [IOLENS_NB_WRITE] = MPIIO_NB_WRITES,
};

static void mpiio_init(void *state, struct file *file, int fd)
{
    struct iolens_mpiio_file *f = state;
    (void)fd;
    f->record.base.id = file->id;
    f->dxt = dxt_of(file, MODULE_DXT_MPIIO);
    frequent_start(&f->access);
}

static void mpiio_flush(const void *state)
{
    heat_flush(&((const struct iolens_mpiio_file *)state)->heat, HEATMAP_MPIIO);
}

static void mpiio_keep(const void *state, int list, struct kept_values *kept)
{
    (void)list;
    frequent_keep(&((const struct iolens_mpiio_file *)state)->access, kept);
}

static void mpiio_finish(const void *state, void *record)
{
    const struct iolens_mpiio_file *f = state;
    int64_t *ints = ((struct mpiio_record *)record)->ints;
    frequent_top(&f->access, &ints[MPIIO_ACCESS1_ACCESS], &ints[MPIIO_ACCESS1_COUNT]);
}

/* Enters the recorder and takes the file's lock; returns false if nothing is recorded. */
static bool enter(struct iolens_mpiio_file *file)
{
    if (!file || !iolens_active() || iolens_paused())
        return false;
    iolens_busy = true;
    spin_lock(&file->lock);
    return true;
}

static void leave(struct iolens_mpiio_file *file)
{
    spin_unlock(&file->lock);
    iolens_busy = false;
}

static void add_meta(struct iolens_mpiio_file *file, double t0, double t1)
{
    timer_add(&file->record.doubles[MPIIO_F_META_TIME], &file->last_end[META_END], t0, t1);
}

static void add_event(const struct iolens_mpiio_file *file, enum traced_event event, double t0, double t1)
{
    if (file->dxt)
        traced_event_add(file->record.base.id, event, -1, t0, t1);
}

static struct iolens_mpiio_file *file_of(const char *path)
{
    char absolute[PATH_BYTES];
    struct file *file = path_absolute(absolute, AT_FDCWD, path) ? names_file(absolute, NAMES_TARGET) : NULL;
    return file ? registry_state(file, MODULE_MPIIO, -1) : NULL;
}

IOLENS_EXPORT struct iolens_mpiio_file *iolens_mpiio_open(const char *path, int amode, bool collective,
                                                          bool hints, double t0, double t1)
{
    struct iolens_mpiio_file *file = NULL;
    if (!path || !iolens_active())
        return NULL;
    RECORDER(file = file_of(path));
    if (!enter(file))
        return NULL;
    double *doubles = file->record.doubles;
    file->record.ints[MPIIO_MODE] = amode;
    file->record.ints[collective ? MPIIO_COLL_OPENS : MPIIO_INDEP_OPENS]++;
    file->record.ints[MPIIO_HINTS] += hints;
    timer_stamp(&doubles[MPIIO_F_OPEN_START], &doubles[MPIIO_F_OPEN_END], t0, t1);
    add_meta(file, t0, t1);
    add_event(file, TRACED_MPI_OPEN, t0, t1);
    leave(file);
    return file;
}

static void note_component(const char *name)
{
    struct spool_header *header = iolens_spool.header;
    snprintf(iolens.io_component, sizeof iolens.io_component, "%s", name);
    if (header)
        memcpy(header->io_component, iolens.io_component, sizeof header->io_component);
}

IOLENS_EXPORT void iolens_mpiio_component(const char *name)
{
    if (iolens_active() && !*iolens.io_component)
        RECORDER(note_component(name));
}

IOLENS_EXPORT bool iolens_mpiio_traced(const struct iolens_mpiio_file *file) { return file && file->dxt; }

IOLENS_EXPORT void iolens_mpiio_transfer(struct iolens_mpiio_file *file, enum iolens_mpiio_kind kind,
                                         int64_t offset, int64_t bytes, double t0, double t1)
{
    if (!enter(file))
        return;
    bool writing = kind % 2;
    int64_t *ints = file->record.ints;
    double *doubles = file->record.doubles,
           *longest = &doubles[writing ? MPIIO_F_MAX_WRITE_TIME : MPIIO_F_MAX_READ_TIME];
    ints[COUNTER[kind]]++;
    ints[writing ? MPIIO_BYTES_WRITTEN : MPIIO_BYTES_READ] += bytes;
    ints[(writing ? MPIIO_SIZE_WRITE_AGG_0_100 : MPIIO_SIZE_READ_AGG_0_100) + histogram_bucket(bytes)]++;
    if (bytes > 0)
        frequent_add(&file->access, bytes);
    ints[MPIIO_RW_SWITCHES] += file->latest == (writing ? READING : WRITING);
    file->latest = writing ? WRITING : READING;
    timer_stamp(&doubles[writing ? MPIIO_F_WRITE_START : MPIIO_F_READ_START],
                &doubles[writing ? MPIIO_F_WRITE_END : MPIIO_F_READ_END], t0, t1);
    heat_add(&file->heat, HEATMAP_MPIIO, writing, bytes, t0, t1);
    dxt_add(file->dxt, writing, offset, bytes, t0, t1);
    timer_add(&doubles[writing ? MPIIO_F_WRITE_TIME : MPIIO_F_READ_TIME],
              &file->last_end[writing ? WRITE_END : READ_END], t0, t1);
    if (t1 - t0 > *longest) {
        *longest = t1 - t0;
        ints[writing ? MPIIO_MAX_WRITE_TIME_SIZE : MPIIO_MAX_READ_TIME_SIZE] = bytes;
    }
    leave(file);
}

IOLENS_EXPORT void iolens_mpiio_moved(struct iolens_mpiio_file *file, enum iolens_mpiio_kind kind,
                                      int64_t asked, int64_t moved)
{
    if (moved == asked || asked < 0 || !enter(file))
        return;
    bool writing = kind % 2;
    int64_t *ints = file->record.ints,
            *sizes = &ints[writing ? MPIIO_SIZE_WRITE_AGG_0_100 : MPIIO_SIZE_READ_AGG_0_100];
    ints[writing ? MPIIO_BYTES_WRITTEN : MPIIO_BYTES_READ] += moved - asked;
    sizes[histogram_bucket(asked)]--;
    sizes[histogram_bucket(moved)]++;
    leave(file);
}

IOLENS_EXPORT double iolens_mpiio_access(const struct iolens_mpiio_file *file)
{
    const struct file *known = file ? registry_find(file->record.base.id) : NULL;
    const struct posix_state *posix = known ? known->state[MODULE_POSIX] : NULL;
    return posix ? posix->record.doubles[POSIX_F_READ_TIME] + posix->record.doubles[POSIX_F_WRITE_TIME] : 0;
}

IOLENS_EXPORT void iolens_mpiio_collective(struct iolens_mpiio_file *file, double t0, double t1,
                                           double access_before)
{
    double access = iolens_mpiio_access(file) - access_before;
    if (!enter(file))
        return;
    collective_add(&file->collectives, t0, t1, access);
    add_event(file, TRACED_COLLECTIVE, t0, t1);
    leave(file);
}

static void mpiio_correct(void *state, const struct timeline *line)
{
    collective_correct(&((struct iolens_mpiio_file *)state)->collectives, line);
}

/* Counts a call that set a view. As in Darshan, its time counts only if it carries hints. */
IOLENS_EXPORT void iolens_mpiio_view(struct iolens_mpiio_file *file, bool hints, double t0, double t1)
{
    if (!enter(file))
        return;
    file->record.ints[MPIIO_VIEWS]++;
    if (hints) {
        file->record.ints[MPIIO_HINTS]++;
        add_meta(file, t0, t1);
    }
    leave(file);
}

static void add_view(const struct iolens_mpiio_file *file, const struct iolens_view *view, double t0,
                     double t1)
{
    if (file->dxt)
        traced_event_add(file->record.base.id, TRACED_VIEW, traced_view_add(view), t0, t1);
}

IOLENS_EXPORT void iolens_mpiio_seen(const struct iolens_mpiio_file *file, const struct iolens_view *view,
                                     double t0, double t1)
{
    if (file && iolens_active() && !iolens_paused())
        RECORDER(add_view(file, view, t0, t1));
}

IOLENS_EXPORT void iolens_mpiio_sync(struct iolens_mpiio_file *file, double t0, double t1)
{
    if (!enter(file))
        return;
    file->record.ints[MPIIO_SYNCS]++;
    timer_add(&file->record.doubles[MPIIO_F_WRITE_TIME], &file->last_end[WRITE_END], t0, t1);
    add_event(file, TRACED_MPI_SYNC, t0, t1);
    leave(file);
}

IOLENS_EXPORT void iolens_mpiio_close(struct iolens_mpiio_file *file, double t0, double t1)
{
    if (!enter(file))
        return;
    double *doubles = file->record.doubles;
    timer_stamp(&doubles[MPIIO_F_CLOSE_START], &doubles[MPIIO_F_CLOSE_END], t0, t1);
    add_meta(file, t0, t1);
    /* This close deletes the file (MPI_MODE_DELETE_ON_CLOSE). */
    extra_leave_out(registry_find(file->record.base.id), t0, t1);
    add_event(file, TRACED_MPI_CLOSE, t0, t1);
    leave(file);
}

static void replace(const char **value, const char *by)
{
    if (by && (!*value || strcmp(*value, by) != 0))
        *value = arena_text(&iolens.arena, by);
}

IOLENS_EXPORT void iolens_mpiio_hint(struct iolens_mpiio_file *file, const char *key, const char *requested,
                                     const char *given, const char *effective)
{
    if (!key || !enter(file))
        return;
    struct mpiio_hint **link = &file->hints;
    while (*link && strcmp((*link)->key, key) != 0)
        link = &(*link)->next;
    if (!*link) {
        struct mpiio_hint *hint = arena_alloc(&iolens.arena, sizeof *hint);
        const char *copy = arena_text(&iolens.arena, key);
        if (hint && copy) {
            hint->key = copy;
            *link = hint;
        }
    }
    if (*link) {
        replace(&(*link)->requested, requested);
        replace(&(*link)->given, given);
        replace(&(*link)->effective, effective);
    }
    leave(file);
}

#define COUNTERS "profiler/src/modules/mpiio/mpiio_counters.def"
#include "../merge_tables.h"

static const struct record_shape SHAPE = {
    .ints = MPIIO_INTS,
    .doubles = MPIIO_DOUBLES,
    .int_merge = INT_MERGE,
    .double_merge = DOUBLE_MERGE,
    .top = {MPIIO_ACCESS1_ACCESS, SHAPE_NONE},
    .longest = {{MPIIO_F_MAX_READ_TIME, MPIIO_MAX_READ_TIME_SIZE},
                {MPIIO_F_MAX_WRITE_TIME, MPIIO_MAX_WRITE_TIME_SIZE}},
    .fastest = MPIIO_FASTEST_RANK,
    .fastest_seconds = MPIIO_F_FASTEST_RANK_TIME,
    .seconds = {MPIIO_F_READ_TIME, MPIIO_F_WRITE_TIME, MPIIO_F_META_TIME},
    .bytes = {MPIIO_BYTES_READ, MPIIO_BYTES_WRITTEN},
};

/* Returns true if the state of a file in the spool is whole. Each hint must lie after the previous one in
 * memory, so that a damaged list cannot be endless. */
static bool mpiio_validate(const void *state, const struct area *area)
{
    const struct iolens_mpiio_file *file = state;
    const struct mpiio_hint *before = NULL;
    for (const struct mpiio_hint *hint = file->hints; hint; before = hint, hint = hint->next)
        if (hint <= before || !area_holds(area, hint, sizeof *hint, 1) || !area_text(area, hint->key) ||
            (hint->requested && !area_text(area, hint->requested)) ||
            (hint->given && !area_text(area, hint->given)) ||
            (hint->effective && !area_text(area, hint->effective)))
            return false;
    return frequent_validate(&file->access, area) && collective_validate(&file->collectives, area);
}

const struct module module_MPIIO = {
    .id = 2,
    .version = 3,
    .name = "MPI-IO",
    .state_bytes = sizeof(struct iolens_mpiio_file),
    .shape = &SHAPE,
    .init = mpiio_init,
    .validate = mpiio_validate,
    .flush = mpiio_flush,
    .finish = mpiio_finish,
    .keep = mpiio_keep,
    .correct = mpiio_correct,
};
