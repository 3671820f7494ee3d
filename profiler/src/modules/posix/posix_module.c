/* The POSIX module: initial values of a file's state, and the conversion into a record. */
#include <sys/statfs.h>

#include "../../system/path.h"
#include "../ceph/ceph_layouts.h"
#include "../lustre/lustre.h"
#include "../timelines/dxt.h"
#include "posix.h"

enum { MEMORY_ALIGNMENT = 8, LUSTRE_MAGIC = 0x0BD00BD0, LUSTRE_BLOCK = 1024 * 1024 };

/* Asks about the file system of the file's folder, if another process has just removed the file itself. */
static int ask_folder(const struct file *file, struct statfs *info)
{
    const char *slash = strrchr(file->path, '/');
    char *folder = slash ? path_room_take() : NULL;
    if (!folder)
        return -1;
    size_t length = (size_t)(slash - file->path) + 1;
    memcpy(folder, file->path, length);
    folder[length] = '\0';
    int result = statfs(folder, info);
    path_room_give(folder);
    return result;
}

/* Asks the file system for the layout of a file on CephFS. Returns its block size, which Darshan uses as
 * alignment; 1 MiB on Lustre, -1 for pseudo files such as <STDIN>. */
static int64_t ask_file_system(struct file *file, int fd)
{
    struct statfs info;
    if (file->path[0] == '<')
        return -1;
    if ((fd >= 0 ? fstatfs(fd, &info) : statfs(file->path, &info)) != 0 && ask_folder(file, &info) != 0)
        return -1;
    ceph_layouts_note(file, fd, (uint64_t)info.f_type);
    return info.f_type == LUSTRE_MAGIC ? LUSTRE_BLOCK : (int64_t)info.f_bsize;
}

static void posix_init(void *state, struct file *file, int fd)
{
    struct posix_state *s = state;
    s->record.base.id = file->id;
    s->record.ints[POSIX_MEM_ALIGNMENT] = MEMORY_ALIGNMENT;
    s->record.ints[POSIX_FILE_ALIGNMENT] = ask_file_system(file, fd);
    s->dxt = dxt_of(file, MODULE_DXT_POSIX);
    frequent_start(&s->read_size);
    frequent_start(&s->stride);
    frequent_start(&s->write_size);
}

static bool posix_validate(const void *state, const struct area *area)
{
    const struct posix_state *s = state;
    return frequent_validate(&s->read_size, area) && frequent_validate(&s->write_size, area) &&
           frequent_validate(&s->stride, area);
}

static void posix_flush(const void *state)
{
    heat_flush(&((const struct posix_state *)state)->heat, HEATMAP_POSIX);
}

/* Copies the frequent values of list 0 (strides) or list 1 (sizes of reads and writes) into the record. */
static void posix_keep(const void *state, int list, struct kept_values *kept)
{
    const struct posix_state *s = state;
    if (list == 0) {
        frequent_keep(&s->stride, kept);
        return;
    }
    frequent_keep(&s->read_size, kept);
    frequent_keep(&s->write_size, kept);
}

static void posix_finish(const void *state, void *record)
{
    const struct posix_state *s = state;
    int64_t *ints = ((struct posix_record *)record)->ints;
    frequent_top_of_both(&s->read_size, &s->write_size, &ints[POSIX_ACCESS1_ACCESS],
                         &ints[POSIX_ACCESS1_COUNT]);
    frequent_top(&s->stride, &ints[POSIX_STRIDE1_STRIDE], &ints[POSIX_STRIDE1_COUNT]);
}

/* Sets the alignment of a striped file to its stripe size. The layout is asked for before the lock is taken,
 * because a metadata server may answer late. */
static void use_layout(struct posix_state *s, struct file *file, int fd)
{
    int64_t stripe_size = lustre_on_open(file, fd);
    spin_lock(&s->lock);
    if (stripe_size > 0) {
        s->record.ints[POSIX_FILE_ALIGNMENT] = stripe_size;
        s->stripes = file->state[MODULE_LUSTRE];
    }
    spin_unlock(&s->lock);
}

struct posix_state *posix_state_new(struct open_file *open, int fd)
{
    struct file *file = fds_file(open);
    struct posix_state *s = file ? registry_state(file, MODULE_POSIX, fd) : NULL;
    if (s && fd >= 0)
        use_layout(s, file, fd);
    open->posix = s;
    return s;
}

#define COUNTERS "profiler/src/modules/posix_counters.def"
#include "../merge_tables.h"

static const struct record_shape SHAPE = {
    .ints = POSIX_INTS,
    .doubles = POSIX_DOUBLES,
    .int_merge = INT_MERGE,
    .double_merge = DOUBLE_MERGE,
    .top = {POSIX_STRIDE1_STRIDE, POSIX_ACCESS1_ACCESS},
    .longest = {{POSIX_F_MAX_READ_TIME, POSIX_MAX_READ_TIME_SIZE},
                {POSIX_F_MAX_WRITE_TIME, POSIX_MAX_WRITE_TIME_SIZE}},
    .fastest = POSIX_FASTEST_RANK,
    .fastest_seconds = POSIX_F_FASTEST_RANK_TIME,
    .seconds = {POSIX_F_READ_TIME, POSIX_F_WRITE_TIME, POSIX_F_META_TIME},
    .bytes = {POSIX_BYTES_READ, POSIX_BYTES_WRITTEN},
};

const struct module module_POSIX = {
    .id = 1,
    .version = 4,
    .name = "POSIX",
    .state_bytes = sizeof(struct posix_state),
    .shape = &SHAPE,
    .reset = aio_reset,
    .init = posix_init,
    .validate = posix_validate,
    .flush = posix_flush,
    .finish = posix_finish,
    .keep = posix_keep,
};
