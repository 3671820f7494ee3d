#include "../files/registry.h"
#include "../records/shape.h"
#include "../runtime/context.h"
#include "../sampling/state.h"
#include "../system/system_call.h"
#include "../tables/process_table.h"
#include "lifecycle.h"

/* Largest number of samples of a program that did nothing else: a child of a shell may be sampled once or
 * twice before its exec. */
enum { FEW_SAMPLES = 10 };

/* Files that an interpreter reads before the user's program begins, or that a script sources. */
static const char *const PROGRAM_TEXTS[] = {".sh", ".py", ".pyc", ".pth", "/pyvenv.cfg"};

/* Positions in a module's record of two counters: bytes of all transfers, and written bytes. */
struct moved {
    int64_t all, written;
};

static void add_moved(struct moved *moved, const struct module *module, const void *state)
{
    const int64_t *ints = (const int64_t *)state + sizeof(struct record_base) / sizeof(int64_t);
    moved->all += ints[module->shape->bytes[0]] + ints[module->shape->bytes[1]];
    moved->written += ints[module->shape->bytes[1]];
}

static struct moved moved_in(const struct file *file, const struct area *area)
{
    struct moved moved = {0};
    for (int m = 0; m < MODULE_COUNT; m++) {
        const void *state = file->state[m];
        bool counts = modules[m]->shape && modules[m]->shape->bytes[0] != modules[m]->shape->bytes[1];
        if (state && counts && area_holds(area, state, modules[m]->state_bytes, 1))
            add_moved(&moved, modules[m], state);
    }
    return moved;
}

static bool is_program_text(const char *path)
{
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof PROGRAM_TEXTS / sizeof *PROGRAM_TEXTS; i++) {
        size_t end = strlen(PROGRAM_TEXTS[i]);
        if (length > end && memcmp(path + length - end, PROGRAM_TEXTS[i], end) == 0)
            return true;
    }
    return false;
}

static bool begins_as_a_script(const char *path)
{
    struct stat info;
    char start[2] = "";
    if (file_info(path, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    int fd = (int)system_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
    if (fd < 0)
        return false;
    system_call(SYS_pread64, fd, start, sizeof start, 0);
    system_call(SYS_close, fd);
    return memcmp(start, "#!", sizeof start) == 0;
}

/* Returns true if the name of a file, without its folder, is a word of the command line or the last part of
 * such a word. */
static bool is_on_command_line(const struct identity *identity, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *line = identity->command, *end = line + strnlen(line, sizeof identity->command);
    size_t length = strlen(name);
    for (const char *at = line + 1; length > 0 && at + length <= end; at++)
        if ((at[-1] == ' ' || at[-1] == '/') && memcmp(at, name, length) == 0 &&
            (at + length == end || at[length] == ' '))
            return true;
    return false;
}

/* Returns true if a standard stream is worth a log: it moved enough bytes to or from a file. The regular end
 * of a process follows the same rule. */
static bool stream_matters(const struct file *file, const struct area *area)
{
    for (int m = 0; m < MODULE_COUNT; m++) {
        const void *state = modules[m]->matters ? file->state[m] : NULL;
        if (state && area_holds(area, state, modules[m]->state_bytes, 1) && modules[m]->matters(state, file))
            return true;
    }
    return false;
}

static bool file_matters(const struct spool_header *header, const struct file *file, const struct area *area)
{
    if (!area_text(area, file->path))
        return false;
    if (file->path[0] != '/')
        return stream_matters(file, area);
    struct moved moved = moved_in(file, area);
    return moved.written > 0 ||
           (moved.all > 0 && !is_program_text(file->path) &&
            !(is_on_command_line(&header->identity, file->path) && begins_as_a_script(file->path)));
}

/* Returns true if any file in the spool is worth a log. Each file must lie after the previous one in memory,
 * so that a damaged list cannot be endless. */
static bool any_file_matters(const struct spool_header *header, const struct area *area)
{
    const struct file *before = NULL;
    for (const struct file *file = header->first; file > before && area_holds(area, file, sizeof *file, 1);
         before = file, file = file->next)
        if (file_matters(header, file, area))
            return true;
    return false;
}

static bool has_samples(const struct sampling *sampling, const struct area *area)
{
    int64_t samples = 0;
    if (!sampling || !area_holds(area, sampling, sizeof *sampling, 1))
        return false;
    for (int64_t i = 0; i < sampling->threads && i < SAMPLED_THREADS; i++)
        samples += sampling->thread[i].samples;
    return samples > FEW_SAMPLES;
}

bool replaced_is_worth_a_log(const struct spool_header *header, const struct area *area)
{
    if (header->ranks > 0)
        return true;
    return settings_true(iolens.settings.nonmpi) &&
           (header->tables[TABLE_regions] || has_samples(header->tables[TABLE_sampling], area) ||
            any_file_matters(header, area));
}
