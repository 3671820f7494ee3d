/* Records how streams are opened, closed and reopened. */
#include "../../files/fds.h"
#include "../../files/names.h"
#include "../../system/system_call.h"
#include "../failed_calls.h"
#include "../lustre/lustre.h"
#include "../network/connections.h"
#include "stdio_state.h"

static void count_open(struct stream *stream, const struct call *c, bool append, bool fdopened)
{
    if (stream)
        stream->append = append;
    struct stdio_state *s = stdio_lock(stream);
    if (!s)
        return;
    double *doubles = s->record.doubles;
    s->stripes = stream->file->state[MODULE_LUSTRE];
    s->record.ints[STDIO_OPENS]++;
    s->record.ints[STDIO_FDOPENS] += fdopened;
    timer_stamp(&doubles[STDIO_F_OPEN_START], &doubles[STDIO_F_OPEN_END], c->t0, c->t1);
    stdio_add_meta(s, c);
    spin_unlock(&s->lock);
}

static struct file *opened_file(FILE *stream, const char *path)
{
    char *absolute = path_room_take();
    bool found = absolute && path_absolute(absolute, AT_FDCWD, path);
    struct file *file = found ? names_open(absolute, fileno_unlocked(stream)) : NULL;
    path_room_give(absolute);
    return file;
}

void stdio_on_fopen(const struct call *c, FILE *stream, const char *path, const char *mode)
{
    if (!iolens_owns_memory())
        return;
    if (!stream) {
        failed_calls_add(c, FAILED_open, *errno_place());
        return;
    }
    struct file *file = opened_file(stream, path);
    fds_fresh(fileno_unlocked(stream), true);
    if (!file) {
        streams_forget(stream);
        return;
    }
    lustre_on_open(file, fileno_unlocked(stream));
    count_open(streams_open(stream, file, 0), c, mode[0] == 'a', false);
}

/* Counts a call of tmpfile(). Its file has no name, and shares the record of its folder, like files that
 * open() makes with O_TMPFILE. */
void stdio_on_tmpfile(const struct call *c, FILE *stream) { stdio_on_fopen(c, stream, P_tmpdir, "w+"); }

void stdio_on_fdopen(const struct call *c, FILE *stream, int fd, const char *mode)
{
    struct open_file *open = stream && iolens_owns_memory() ? fds_sure(fd) : NULL;
    struct file *file = open ? fds_file(open) : NULL;
    if (!file)
        return;
    open->append |= mode[0] == 'a';
    open->asks |= FDS_ALWAYS;
    lustre_on_open(file, fd); /* An inherited descriptor was opened by another program, so the layout of its
                                 file is not known yet. */
    off_t position = system_call(SYS_lseek, fd, 0L, SEEK_CUR);
    count_open(streams_open(stream, file, position > 0 ? position : 0), c, open->append, true);
}

static void on_close(struct stream *stream)
{
    struct stdio_state *s = stream->pending > 0 ? stdio_state_of(stream) : NULL;
    if (s)
        appending_ends(stream, s, streams_held(stream->handle));
}

void stdio_before_close(struct call *c, FILE *handle)
{
    struct stream *stream = streams_known(handle);
    if (!handle || !iolens_owns_memory())
        return;
    int fd = fileno_unlocked(handle);
    connections_before_close(fd);
    fds_forget(fd, fd);
    if (!stream)
        return;
    on_close(stream);
    if ((c->taken = stdio_state_of(stream)))
        lustre_on_close(stream->file, fd);
    streams_forget(handle);
}

void stdio_on_close(const struct call *c)
{
    struct stdio_state *s = c->taken;
    if (!s)
        return;
    double *doubles = s->record.doubles;
    spin_lock(&s->lock);
    timer_stamp(&doubles[STDIO_F_CLOSE_START], &doubles[STDIO_F_CLOSE_END], c->t0, c->t1);
    stdio_add_meta(s, c);
    spin_unlock(&s->lock);
}

/* Ends the record of the stream's file before freopen. */
void stdio_before_reopen(struct call *c, FILE *handle)
{
    if (!handle || !iolens_owns_memory())
        return;
    int fd = fileno_unlocked(handle);
    struct stream *stream = streams_known(handle);
    if (stream)
        on_close(stream);
    fds_forget(fd, fd);
    c->taken = stream ? stream->file : NULL;
    streams_forget(handle);
}

/* Counts a call of freopen. Without a path it opens the stream's file again. */
void stdio_on_reopen(const struct call *c, FILE *stream, const char *path, const char *mode)
{
    struct file *same = c->taken;
    if (path || !stream)
        stdio_on_fopen(c, stream, path, mode);
    else if (same)
        count_open(streams_open(stream, same, 0), c, mode[0] == 'a', false);
}
