/* Calls on wide characters, in bytes. A stream converts them when its buffer is flushed, so the bytes of
 * written characters are computed here, by the locale of the calling thread. */
#include <limits.h>
#include <stdlib.h>
#include <wchar.h>

#include "../../system/file_info.h"
#include "stdio_events.h"
#include "streams.h"

/* Returns the bytes of one character. A character that the locale cannot encode counts as one byte, as for
 * ftell. */
static int64_t letter_bytes(wint_t letter)
{
    enum { ASCII = 0x80 };
    if (letter < ASCII)
        return 1;
    char encoded[MB_LEN_MAX];
    mbstate_t state = {0};
    size_t bytes = wcrtomb(encoded, (wchar_t)letter, &state);
    return bytes <= sizeof encoded ? (int64_t)bytes : 1;
}

static int64_t text_bytes(const wchar_t *text)
{
    int64_t bytes = 0;
    for (; *text; text++)
        bytes += letter_bytes((wint_t)*text);
    return bytes;
}

void stdio_on_wide_letter_read(const struct call *c, FILE *stream, wint_t letter)
{
    if (letter != WEOF)
        stdio_on_read(c, stream, letter_bytes(letter));
    else
        stdio_on_drift(stream);
}

void stdio_on_wide_letter_written(const struct call *c, FILE *stream, wint_t letter)
{
    stdio_on_write(c, stream, letter_bytes(letter));
}

/* Returns the bytes of a text whose first zero may be one of its own letters, as for fgets. */
static int64_t bytes_with_zeros(FILE *stream, const wchar_t *string, int64_t before_zero, int room)
{
    int64_t read = stdio_bytes_since(stream), bytes = 0;
    int letters = 0;
    while (bytes < read && letters < room - 1)
        bytes += letter_bytes((wint_t)string[letters++]);
    if (read <= before_zero || bytes != read || string[letters] != 0)
        return before_zero;
    bool complete = letters == room - 1 || string[letters - 1] == L'\n' || feof(stream) || ferror(stream);
    return complete ? read : before_zero;
}

void stdio_on_wide_string(const struct call *c, FILE *stream, const wchar_t *string, int room)
{
    int letters = string ? (int)wcslen(string) : 0;
    bool complete = string && (letters >= room - 1 || (letters > 0 && string[letters - 1] == L'\n'));
    int64_t bytes = string ? text_bytes(string) : 0;
    if (string && !complete)
        bytes = bytes_with_zeros(stream, string, bytes, room);
    if (bytes > 0)
        stdio_on_read(c, stream, bytes);
    if (!complete)
        stdio_on_drift(stream);
}

void stdio_on_wide_text(const struct call *c, FILE *stream, const wchar_t *text)
{
    stdio_on_text(c, stream, text_bytes(text));
}

/* Notes where the printed bytes will begin: at the end of the file if the stream appends and holds no bytes.
 */
void stdio_before_wide_print(struct call *c, FILE *handle)
{
    struct stream *stream = streams_find(handle);
    struct stat info;
    c->mark = stream ? ftello(handle) : -1;
    if (stream && stream->append && streams_held(handle) == 0 && file_info_fd(stream->fd, &info) == 0)
        c->mark = info.st_size;
}

/* Counts a formatted output of wide characters, whose bytes follow from the stream's positions. A pipe has no
 * position, so its bytes are known only in a locale in which every character is one byte. */
void stdio_on_wide_print(const struct call *c, FILE *stream, int letters)
{
    if (letters <= 0)
        return;
    int64_t bytes = c->mark >= 0 ? ftello(stream) - c->mark : 0;
    /* Until the first output after a rewind, glibc may report the position that a wide stream had before it.
     * The position that was counted is right then. */
    if (bytes <= 0)
        bytes = stdio_bytes_since(stream);
    if (bytes >= letters && bytes <= letters * (int64_t)MB_CUR_MAX)
        stdio_on_write(c, stream, bytes);
    else if (MB_CUR_MAX == 1)
        stdio_on_write(c, stream, letters);
}

void stdio_on_wide_unget(FILE *stream, wint_t letter) { stdio_on_unget(stream, letter_bytes(letter)); }
