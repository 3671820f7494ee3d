#include "../../runtime/context.h"
#include "../../system/system_call.h"
#include "../lustre/lustre.h"
#include "stdio_state.h"

/* Returns the number of bytes that have left the buffer since the last call; `left` bytes are still in it. If
 * that is more than the recorder has counted, another thread has written to the stream and will report its
 * bytes. */
static int64_t take_landed(struct stream *stream, int64_t bytes, int64_t left)
{
    int64_t known = stream->pending + bytes;
    stream->pending = left < known ? left : known;
    return known - stream->pending;
}

static void place(struct stdio_state *s, int64_t begin, int64_t bytes)
{
    int64_t *max_byte = &s->record.ints[STDIO_MAX_BYTE_WRITTEN];
    if (begin + bytes - 1 > *max_byte)
        *max_byte = begin + bytes - 1;
    if (s->stripes)
        lustre_on_transfer(s->stripes, -1, true, begin, bytes);
}

/* Notes where bytes were written that left the buffer of a stream in append mode. They end at the
 * descriptor's position, which the kernel knows without asking a file server. */
void appending_wrote(struct stream *stream, struct stdio_state *s, int64_t bytes, int64_t left)
{
    int64_t landed = take_landed(stream, bytes, left);
    if (landed == 0)
        return;
    off_t position = system_call(SYS_lseek, stream->fd, 0L, SEEK_CUR);
    stream->offset = position >= 0 ? position : stream->offset + landed;
    place(s, stream->offset - landed, landed);
}

/* Notes bytes that left the buffer in a call that may also have changed the position; they lie at the end of
 * the file. The file's size is asked for before the lock is taken, because a file server may take long to
 * answer. */
void appending_left(struct stream *stream, struct stdio_state *s, int64_t left)
{
    struct stat info;
    if (left >= stream->pending || file_info_fd(stream->fd, &info) != 0)
        return;
    spin_lock(&s->lock);
    int64_t landed = take_landed(stream, 0, left);
    if (landed > 0)
        place(s, info.st_size - landed, landed);
    spin_unlock(&s->lock);
}

/* Notes where the buffered bytes were written, after all of them have left the buffer. The place follows from
 * the descriptor's position and not from the end of the file, because another stream may have appended since.
 */
void appending_flushed(struct stream *stream, struct stdio_state *s)
{
    off_t position = system_call(SYS_lseek, stream->fd, 0L, SEEK_CUR);
    spin_lock(&s->lock);
    int64_t landed = take_landed(stream, 0, 0);
    if (landed > 0 && position >= landed) {
        stream->offset = position;
        place(s, position - landed, landed);
    }
    spin_unlock(&s->lock);
}

/* Returns the number of bytes in the buffer that were there before this process wrote to it: a child of fork
 * finds its parent's bytes in its copy of the buffer. */
static int64_t earlier_bytes(const struct stream *stream, int64_t left)
{
    return left > stream->pending ? left - stream->pending : 0;
}

void appending_ends(struct stream *stream, struct stdio_state *s, int64_t left)
{
    struct stat info;
    appending_left(stream, s, left);
    if (stream->pending == 0 || file_info_fd(stream->fd, &info) != 0)
        return;
    spin_lock(&s->lock);
    place(s, info.st_size + earlier_bytes(stream, left), stream->pending);
    stream->pending = 0;
    spin_unlock(&s->lock);
}

/* Predicted end of a file, used while the streams that are open at exit are flushed one after another. It is
 * kept by inode and not by record, because a file may have two names, and a name may have had two files. */
struct exit_end {
    dev_t device;
    ino_t inode;
    int64_t end;
    struct exit_end *next;
};

enum { EXIT_BUCKETS = 256 };
/* Buckets by inode number, because thousands of files may be open. */
static struct exit_end *exit_ends[EXIT_BUCKETS];

void appending_begin_exit(void) { memset(exit_ends, 0, sizeof exit_ends); }

/* Returns the predicted end of a stream's file, which the file system is asked for once. Returns NULL without
 * memory, or if the descriptor is closed. */
static struct exit_end *exit_end_of(const struct stream *stream)
{
    struct stat info;
    if (file_info_fd(stream->fd, &info) != 0)
        return NULL;
    struct exit_end **bucket = &exit_ends[info.st_ino % EXIT_BUCKETS], *known = *bucket;
    while (known && (known->inode != info.st_ino || known->device != info.st_dev))
        known = known->next;
    if (known || !(known = arena_alloc(&iolens.scratch, sizeof *known)))
        return known;
    *known = (struct exit_end){info.st_dev, info.st_ino, info.st_size, *bucket};
    return *bucket = known;
}

void appending_exits(struct stream *stream, struct stdio_state *s, int64_t left)
{
    struct exit_end *file = exit_end_of(stream);
    if (file && !stream->append)
        file->end = stream->offset > file->end ? stream->offset : file->end;
    if (!stream->append)
        return;
    spin_lock(&s->lock);
    if (file && stream->pending > 0)
        place(s, file->end + earlier_bytes(stream, left), stream->pending);
    stream->pending = 0;
    spin_unlock(&s->lock);
    if (file)
        file->end += left;
}
