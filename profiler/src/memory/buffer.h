/* A growing array of bytes in pages from the system, because malloc may not be safe while the log is
 * written. */
#ifndef IOLENS_BUFFER_H
#define IOLENS_BUFFER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buffer {
    char *data;
    size_t used, size;
    /* Number of bytes at the start of the memory that were ever written; the rest is still zero. */
    size_t touched;
    bool failed; /* True if memory ran out, so that the contents are incomplete. */
};

/* Returns memory behind the contents with room for `bytes` bytes; if memory runs out, sets `failed` and
 * returns NULL. The caller fills it, and then tells buffer_add how many bytes it filled. */
void *buffer_room(struct buffer *buffer, size_t bytes);
/* Adds `bytes` bytes to the contents, and returns their place for the caller to fill; if memory runs out,
 * sets `failed` and returns NULL. */
void *buffer_add(struct buffer *buffer, size_t bytes);
void buffer_put(struct buffer *buffer, const void *bytes, size_t count);
/* Appends a text without its NUL. */
void buffer_text(struct buffer *buffer, const char *text);
void buffer_format(struct buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buffer_free(struct buffer *buffer);

/* Returns how often memory ran out in any buffer. */
size_t buffer_failures(void);

/* Appends a quoted JSON string; bytes that are not UTF-8 become U+FFFD. */
void buffer_json(struct buffer *buffer, const char *text);

#endif
