/* Calls on streams; the table at the end has their names in call lists. */
#include "interpreter.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RUN(name) static void run_##name(struct state *s, const struct arg *a, struct entry *e)
#define RUN_CALL(name, call)                                                                                 \
    RUN(name)                                                                                                \
    {                                                                                                        \
        FILE *f = s->streams[a[0].number];                                                                   \
        TIMED(e, call);                                                                                      \
    }

/* fopen STREAM PATH MODE; fdopen STREAM SLOT MODE; extra: the stream's descriptor. The stream closes it: SLOT
 * is empty from then on. The result is 1, or 0 without a stream; the call is skipped if STREAM is open
 * already. */
static void put_stream(struct state *s, struct arg a, struct entry *e, FILE *f)
{
    e->result = f != NULL;
    e->extra[0] = f ? f->_fileno : -1;
    s->streams[a.number] = f;
    s->ways[a.number] = STAYS;
}
/* Empties the slots that fileno filled with the stream's descriptor. */
static void empty_slots(struct state *s, int fd)
{
    for (int i = 0; i < SLOTS; i++)
        if (s->fds[i] == fd)
            s->fds[i] = -1;
}
RUN(fopen)
{
    FILE *f;
    if (s->streams[a[0].number])
        return;
    TIMED(e, (f = fopen(a[1].text, a[2].text)) != NULL);
    put_stream(s, a[0], e, f);
}
RUN(fopen64)
{
    FILE *f;
    if (s->streams[a[0].number])
        return;
    TIMED(e, (f = fopen64(a[1].text, a[2].text)) != NULL);
    put_stream(s, a[0], e, f);
}
/* tmpfile STREAM: opens a temporary file into STREAM; skipped if STREAM is open already */
RUN(tmpfile)
{
    FILE *f;
    if (s->streams[a[0].number])
        return;
    TIMED(e, (f = tmpfile()) != NULL);
    put_stream(s, a[0], e, f);
}
RUN(tmpfile64)
{
    FILE *f;
    if (s->streams[a[0].number])
        return;
    TIMED(e, (f = tmpfile64()) != NULL);
    put_stream(s, a[0], e, f);
}
/* print LETTERS: writes to stdout's buffer; print_flush also flushes it. Remaining letters are flushed before
 * the program ends. */
RUN(print)
{
    (void)s;
    char letters[4096] = {0};
    memset(letters, 'p', (size_t)(a[0].number % 2048));
    TIMED(e, fputs(letters, stdout));
    e->extra[0] = a[0].number % 2048;
}
RUN(print_flush)
{
    (void)s;
    (void)a;
    TIMED(e, fflush(stdout));
}
RUN(fdopen)
{
    FILE *f;
    if (s->streams[a[0].number] || stream_holds(s, s->fds[a[1].number]))
        return;
    TIMED(e, (f = fdopen(s->fds[a[1].number], a[2].text)) != NULL);
    put_stream(s, a[0], e, f);
    if (f)
        s->fds[a[1].number] = -1;
}
/* freopen STREAM PATH MODE: opens PATH in place of the file of STREAM; `same` opens the same file again */
RUN(freopen)
{
    FILE *f;
    const char *path = strcmp(a[1].text, "same") == 0 ? NULL : a[1].text;
    empty_slots(s, s->streams[a[0].number]->_fileno);
    e->size = size_of(e->fd);
    TIMED(e, (f = freopen(path, a[2].text, s->streams[a[0].number])) != NULL);
    put_stream(s, a[0], e, f);
}
RUN(fclose)
{
    FILE *f = s->streams[a[0].number];
    empty_slots(s, f->_fileno);
    e->size = size_of(e->fd);
    TIMED(e, fclose(f));
    s->streams[a[0].number] = NULL;
}
/* fileno STREAM SLOT: SLOT is the stream's descriptor until the stream is closed */
RUN(fileno)
{
    TIMED(e, fileno(s->streams[a[0].number]));
    s->fds[a[1].number] = (int)e->result;
}

/* leave: the program's streams stay open, and the C library flushes them when the process ends; exit STREAM
 * is the entry of one of them, with its position and the size of its file after that flush, as another
 * process sees them. */
RUN(leave)
{
    (void)a;
    TIMED(e, 0);
    s->leaves = 1;
}
RUN(exit)
{
    (void)s;
    (void)a;
    (void)e;
}
/* fflush_all and fcloseall flush all streams; after fcloseall streams have no buffers. flushed STREAM, after
 * them: the bytes that this stream held before (extra[2]) and its position now. */
RUN(fflush_all)
{
    (void)a;
    note_streams("flushed", s);
    TIMED(e, fflush(NULL));
    note_positions("flushed");
}
RUN(fcloseall)
{
    (void)a;
    note_streams("flushed", s);
    TIMED(e, fcloseall());
    note_positions("flushed");
}
RUN(flushed)
{
    (void)s;
    (void)a;
    (void)e;
}
RUN_CALL(fflush, fflush(f))
RUN_CALL(rewind, (rewind(f), 0))
RUN_CALL(fseek, fseek(f, a[1].number, (int)a[2].number))
RUN_CALL(fseeko, fseeko(f, a[1].number, (int)a[2].number))
RUN_CALL(fseeko64, fseeko64(f, a[1].number, (int)a[2].number))
RUN_CALL(ftell, ftell(f))
/* ungetc STREAM LETTER: followed by fgetc, which is the recorded call; only for streams opened for reading,
 * because glibc fails at a later write. before: the position after ungetc. */
RUN(ungetc)
{
    FILE *f = s->streams[a[0].number];
    enum { NO_WRITES = 0x8 };
    e->result = -1;
    if (!(f->_flags & NO_WRITES) || ungetc((int)a[1].number, f) < 0)
        return;
    e->before--;
    TIMED(e, fgetc(f));
}
RUN_CALL(clearerr, (clearerr(f), 0))
/* setvbuf STREAM BYTES: gives STREAM a buffer of BYTES; 0 is unbuffered */
RUN_CALL(setvbuf, setvbuf(f, NULL, a[1].number ? _IOFBF : _IONBF, (size_t)a[1].number))

/* fsetpos STREAM OFFSET: sets the position of STREAM to OFFSET */
RUN(fsetpos)
{
    FILE *f = s->streams[a[0].number];
    fpos_t at = {.__pos = a[1].number};
    TIMED(e, fsetpos(f, &at));
}

/* fread STREAM SIZE ITEMS: the result is the number of items */
RUN_CALL(fread, fread(transfer_buffer(0), (size_t)a[1].number, (size_t)a[2].number, f))
RUN_CALL(fread_unlocked, fread_unlocked(transfer_buffer(0), (size_t)a[1].number, (size_t)a[2].number, f))
RUN_CALL(fwrite, fwrite(transfer_buffer(0), (size_t)a[1].number, (size_t)a[2].number, f))
RUN_CALL(fwrite_unlocked, fwrite_unlocked(transfer_buffer(0), (size_t)a[1].number, (size_t)a[2].number, f))
RUN_CALL(fgetc, fgetc(f))
RUN_CALL(getc, getc(f))
RUN_CALL(getc_unlocked, (getc_unlocked)(f))
RUN_CALL(fputc, fputc('x', f))
RUN_CALL(putc, putc('\n', f))
RUN_CALL(putc_unlocked, (putc_unlocked)('x', f))
/* getw STREAM; extra: 1 if the stream met its end or an error in this call */
static int has_ended(FILE *f) { return feof(f) || ferror(f); }
RUN(getw)
{
    FILE *f = s->streams[a[0].number];
    int before = has_ended(f);
    TIMED(e, getw(f));
    e->extra[0] = !before && has_ended(f);
}
RUN_CALL(putw, putw((int)a[1].number, f))

/* Returns a text of this many letters, of which the last is a line end; empty for 0. */
static char *text_of(int64_t letters)
{
    char *text = malloc((size_t)letters + 1);
    if (!text)
        abort();
    memset(text, 'a', (size_t)letters);
    if (letters)
        text[letters - 1] = '\n';
    text[letters] = 0;
    return text;
}
/* fputs STREAM LETTERS; fprintf STREAM LETTERS: writes a text of LETTERS letters, the last of which is a line
 * end */
#define RUN_TEXT(name, call)                                                                                 \
    RUN(name)                                                                                                \
    {                                                                                                        \
        FILE *f = s->streams[a[0].number];                                                                   \
        char *text = text_of(a[1].number);                                                                   \
        TIMED(e, call);                                                                                      \
        free(text);                                                                                          \
    }
RUN_TEXT(fputs, fputs(text, f))
RUN_TEXT(fputs_unlocked, fputs_unlocked(text, f))
RUN_TEXT(fprintf, fprintf(f, "%s", text))
static int with_list(FILE *f, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vfprintf(f, format, list);
    va_end(list);
    return n;
}
RUN_TEXT(vfprintf, with_list(f, "%s", text))

/* fgets STREAM ROOM: reads a line of fewer than ROOM letters */
RUN_LINE(fgets, char, memset, strlen)
RUN_LINE(fgets_unlocked, char, memset, strlen)
/* getline STREAM; getdelim STREAM LETTER: skipped with result -1 if over 1 MiB is left, which may be one
 * line */
static int too_long(struct entry *e)
{
    enum { LONGEST = 1 << 20 };
    struct stat st;
    e->result = -1;
    return system_call(SYS_fstat, (int)e->fd, &st) == 0 && st.st_size - e->before > LONGEST;
}
RUN(getline)
{
    FILE *f = s->streams[a[0].number];
    if (too_long(e))
        return;
    char *text = NULL;
    size_t room = 0;
    TIMED(e, getline(&text, &room, f));
    free(text);
}
RUN(getdelim)
{
    FILE *f = s->streams[a[0].number];
    if (too_long(e))
        return;
    char *text = NULL;
    size_t room = 0;
    TIMED(e, getdelim(&text, &room, (int)a[1].number, f));
    free(text);
}
/* fscanf STREAM WIDTH: reads a word of up to WIDTH letters */
RUN(fscanf)
{
    FILE *f = s->streams[a[0].number];
    char format[32], *word = malloc((size_t)a[1].number + 1);
    snprintf(format, sizeof format, "%%%lds", (long)a[1].number);
    TIMED(e, fscanf(f, format, word));
    free(word);
}

#define ROW(name, way)                                                                                       \
    {                                                                                                        \
#name, run_##name, ON_STREAM, 0, way                                                                 \
    }
const struct operation stdio_operations[] = {
    {"fopen", run_fopen, ON_NOTHING, 0, STAYS},
    {"fopen64", run_fopen64, ON_NOTHING, 0, STAYS},
    {"fdopen", run_fdopen, ON_FD, 1, STAYS},
    {"tmpfile", run_tmpfile, ON_NOTHING, 0, STAYS},
    {"tmpfile64", run_tmpfile64, ON_NOTHING, 0, STAYS},
    {"print", run_print, ON_NOTHING, 0, STAYS},
    {"print_flush", run_print_flush, ON_NOTHING, 0, STAYS},
    {"leave", run_leave, ON_NOTHING, 0, STAYS},
    {"fflush_all", run_fflush_all, ON_NOTHING, 0, STAYS},
    {"fcloseall", run_fcloseall, ON_NOTHING, 0, STAYS},
    ROW(exit, STAYS),
    ROW(flushed, STAYS),
    ROW(freopen, STAYS),
    ROW(fclose, STAYS),
    ROW(fileno, STAYS),
    ROW(fflush, TURNS),
    ROW(rewind, TURNS),
    ROW(fseek, TURNS),
    ROW(fseeko, TURNS),
    ROW(fseeko64, TURNS),
    ROW(ftell, STAYS),
    ROW(fsetpos, TURNS),
    ROW(ungetc, READS),
    ROW(clearerr, STAYS),
    ROW(setvbuf, STAYS),
    ROW(fread, READS),
    ROW(fread_unlocked, READS),
    ROW(fwrite, WRITES),
    ROW(fwrite_unlocked, WRITES),
    ROW(fgetc, READS),
    ROW(getc, READS),
    ROW(getc_unlocked, READS),
    ROW(fputc, WRITES),
    ROW(putc, WRITES),
    ROW(putc_unlocked, WRITES),
    ROW(getw, READS),
    ROW(putw, WRITES),
    ROW(fputs, WRITES),
    ROW(fputs_unlocked, WRITES),
    ROW(fprintf, WRITES),
    ROW(vfprintf, WRITES),
    ROW(fgets, READS),
    ROW(fgets_unlocked, READS),
    ROW(getline, READS),
    ROW(getdelim, READS),
    ROW(fscanf, READS),
    {0},
};
