/* Calls on wide characters; the table at the end has their names in call lists. Their streams allow no other
 * calls: a stream is for bytes or for wide characters from its first call on. */
#include "interpreter.h"

#include <errno.h>
#include <stdlib.h>
#include <wchar.h>

#define RUN(name) static void run_##name(struct state *s, const struct arg *a, struct entry *e)

/* Returns a letter that UTF-8 encodes in this many bytes. */
static wchar_t letter_of(int64_t bytes)
{
    static const wchar_t letters[] = {L'a', L'\u00e9', L'\u20ac', L'\U0001f600'};
    return letters[(bytes - 1) % 4];
}

/* Returns a text of this many letters of this many bytes each; the last is a line end of one byte. */
static wchar_t *text_of(int64_t letters, int64_t bytes)
{
    wchar_t *text = malloc(((size_t)letters + 1) * sizeof *text);
    if (!text)
        abort();
    wmemset(text, letter_of(bytes), (size_t)letters);
    if (letters)
        text[letters - 1] = L'\n';
    text[letters] = 0;
    return text;
}

/* NAME STREAM LETTERS BYTES: writes a text of LETTERS letters, each of BYTES bytes in UTF-8, by the call
 * NAME */
#define RUN_TEXT(name, call)                                                                                 \
    RUN(name)                                                                                                \
    {                                                                                                        \
        FILE *f = s->streams[a[0].number];                                                                   \
        wchar_t *text = text_of(a[1].number, a[2].number);                                                   \
        TIMED(e, call);                                                                                      \
        free(text);                                                                                          \
    }
RUN_TEXT(fputws, fputws(text, f))
RUN_TEXT(fputws_unlocked, fputws_unlocked(text, f))
RUN_TEXT(fwprintf, fwprintf(f, L"%ls", text))

/* NAME STREAM LETTERS BYTES: writes one letter of BYTES bytes by the call NAME; LETTERS is 1; result 1, or
 * -1 */
#define RUN_LETTER(name)                                                                                     \
    RUN(name)                                                                                                \
    {                                                                                                        \
        FILE *f = s->streams[a[0].number];                                                                   \
        wchar_t letter = letter_of(a[2].number);                                                             \
        TIMED(e, name(letter, f) == WEOF ? -1 : 1);                                                          \
    }
RUN_LETTER(fputwc)
RUN_LETTER(fputwc_unlocked)
RUN_LETTER(putwc)

/* NAME STREAM: reads a wide character by the call NAME; result: 1, or -1 if none was read. The change of the
 * stream's position shows its number of bytes. */
#define RUN_GET(name)                                                                                        \
    RUN(name)                                                                                                \
    {                                                                                                        \
        FILE *f = s->streams[a[0].number];                                                                   \
        TIMED(e, name(f) == WEOF ? -1 : 1);                                                                  \
    }
RUN_GET(fgetwc)
RUN_GET(fgetwc_unlocked)
RUN_GET(getwc)

/* fgetws STREAM ROOM: reads a line; fwscanf STREAM ROOM: reads a word, and the result is the number of
 * items. */
RUN_LINE(fgetws, wchar_t, wmemset, wcslen)
RUN_LINE(fgetws_unlocked, wchar_t, wmemset, wcslen)
RUN(fwscanf)
{
    FILE *f = s->streams[a[0].number];
    wchar_t format[32], *word = calloc((size_t)a[1].number + 1, sizeof *word);
    swprintf(format, sizeof format / sizeof *format, L"%%%ldls", (long)a[1].number);
    TIMED(e, fwscanf(f, format, word));
    free(word);
}

#define ROW(name, way)                                                                                       \
    {                                                                                                        \
#name, run_##name, ON_STREAM, 0, way                                                                 \
    }
const struct operation wide_operations[] = {
    ROW(fputws, WRITES),
    ROW(fputws_unlocked, WRITES),
    ROW(fwprintf, WRITES),
    ROW(fputwc, WRITES),
    ROW(fputwc_unlocked, WRITES),
    ROW(putwc, WRITES),
    ROW(fgetwc, READS),
    ROW(fgetwc_unlocked, READS),
    ROW(getwc, READS),
    ROW(fgetws, READS),
    ROW(fgetws_unlocked, READS),
    ROW(fwscanf, READS),
    {0},
};
