/* The functions that the wrappers of stdio call after each operation (stdio_kinds.h). */
#ifndef IOLENS_STDIO_EVENTS_H
#define IOLENS_STDIO_EVENTS_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <wchar.h>

#include "../../runtime/wrap.h"

void stdio_on_fopen(const struct call *c, FILE *stream, const char *path, const char *mode);
void stdio_on_tmpfile(const struct call *c, FILE *stream);
void stdio_on_fdopen(const struct call *c, FILE *stream, int fd, const char *mode);
void stdio_on_read(const struct call *c, FILE *stream, int64_t bytes);
void stdio_on_write(const struct call *c, FILE *stream, int64_t bytes);
void stdio_on_text(const struct call *c, FILE *stream, int64_t bytes);

/* A NULL stream means all streams. */
void stdio_before_flush(FILE *stream);
void stdio_on_flush(const struct call *c, FILE *stream);
void stdio_on_failed_flush(FILE *stream);

/* Counts the `done` items that were moved completely. The position may show that part of a further item was
 * moved, too. */
void stdio_on_items_read(const struct call *c, FILE *stream, size_t size, size_t asked, size_t done);
void stdio_on_items_written(const struct call *c, FILE *stream, size_t size, size_t asked, size_t done);
/* Counts the bytes that fgets read into `room` bytes. Bytes behind a zero byte count only if the change of
 * position shows them, which it does not in a pipe or if the program moved the descriptor itself. */
void stdio_on_string(const struct call *c, FILE *stream, const char *string, int room);
/* Counts the bytes that getline and fgetc returned. */
void stdio_on_line(const struct call *c, FILE *stream, ssize_t bytes);
void stdio_on_letter(const struct call *c, FILE *stream, int letter);
void stdio_on_word(const struct call *c, FILE *stream, int word); /* Counts the word that getw returned. */
void stdio_on_unget(FILE *stream, int64_t bytes);
/* Returns by how many bytes the stream's position has moved since the last counted call; a number below 0 if
 * it has no position. */
int64_t stdio_bytes_since(FILE *stream);
/* Updates the position without counting a call; a read of 0 bytes may have flushed the buffer. */
void stdio_on_drift(FILE *stream);
/* Counts a seek; even a failed one may have flushed the buffer. */
void stdio_on_seek(const struct call *c, FILE *stream, int result);

/* Counts wide characters as the bytes that encode them in the calling thread's locale. */
void stdio_on_wide_letter_read(const struct call *c, FILE *stream, wint_t letter);
void stdio_on_wide_letter_written(const struct call *c, FILE *stream, wint_t letter);
void stdio_on_wide_string(const struct call *c, FILE *stream, const wchar_t *string, int room);
void stdio_on_wide_text(const struct call *c, FILE *stream, const wchar_t *text);
void stdio_before_wide_print(struct call *c, FILE *stream, const wchar_t *format, va_list list);
void stdio_on_wide_print(const struct call *c, FILE *stream, int letters);
void stdio_on_wide_unget(FILE *stream, wint_t letter);

/* Removes the stream and its descriptor before the real call closes or reopens them. */
void stdio_before_close(struct call *c, FILE *stream);
void stdio_on_close(const struct call *c);
void stdio_before_reopen(struct call *c, FILE *stream);
void stdio_on_reopen(const struct call *c, FILE *stream, const char *path, const char *mode);

/* Notes the position before a formatted read, because only the change of position shows how much was read. */
void stdio_before_scan(struct call *c, FILE *stream);
void stdio_on_scan(const struct call *c, FILE *stream, int items);

#endif
