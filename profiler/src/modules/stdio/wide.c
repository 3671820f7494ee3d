/* Calls on wide characters, in bytes. A stream converts them when its buffer is flushed, so the bytes of
 * written characters are computed here, by the locale of the calling thread. */
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "../../system/system_call.h"
#include "stdio_state.h"

/* Returns the number of bytes of a character in the locale; 1 for a character that the locale cannot encode,
 * as ftell assumes. */
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

/* Returns the bytes of a text that may itself contain zero characters; see length_with_zeros in
 * stdio_transfer.c. */
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

/* Prints into `text` and returns the bytes of the characters; -1 if they do not fit or cannot be printed. */
static int64_t bytes_printed_into(wchar_t *text, size_t room, const wchar_t *format, va_list list)
{
    va_list again;
    va_copy(again, list);
    int letters = vswprintf(text, room, format, again);
    va_end(again);
    int64_t bytes = letters < 0 ? -1 : 0;
    for (int i = 0; i < letters; i++)
        bytes += letter_bytes((wint_t)text[i]);
    return bytes;
}

/* Computes the bytes of a formatted output before it is printed. The stream's position cannot be used: a pipe
 * has no position, other processes may append to the file meanwhile, and after a rewind glibc may report a
 * wrong position. */
void stdio_before_wide_print(struct call *c, FILE *stream, const wchar_t *format, va_list list)
{
    enum { FEW = 256, GROWTH = 16, MOST = 1 << 24 };
    wchar_t few[FEW];
    if (!streams_find(stream))
        return;
    c->mark = bytes_printed_into(few, FEW, format, list);
    for (size_t room = FEW * GROWTH; c->mark < 0 && room <= MOST; room *= GROWTH) {
        size_t bytes = room * sizeof *few;
        long text =
            system_call(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
        if (text == -1)
            return;
        c->mark = bytes_printed_into((wchar_t *)text, room, format, list);
        system_call(SYS_munmap, text, bytes);
    }
}

void stdio_on_wide_print(const struct call *c, FILE *stream, int letters)
{
    if (letters > 0 && c->mark > 0)
        stdio_on_write(c, stream, c->mark);
}

void stdio_on_wide_unget(FILE *stream, wint_t letter) { stdio_on_unget(stream, letter_bytes(letter)); }
