/* Bytes that grow at the end, in pages from the system: the log is written where malloc may not be safe. */
#ifndef IOLENS_BUFFER_H
#define IOLENS_BUFFER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buffer {
    char *data;
    size_t used, size;
    size_t touched; /* no byte behind these was ever used */
    bool failed;    /* memory ran out; what is in the buffer is not complete */
};

/* Returns room for `bytes` more behind `used`, or NULL (and failed) without memory. buffer_add tells how much
 * of it was used. */
void *buffer_room(struct buffer *buffer, size_t bytes);
/* The same, and moves `used` forward. */
void *buffer_add(struct buffer *buffer, size_t bytes);
void buffer_put(struct buffer *buffer, const void *bytes, size_t count);
void buffer_format(struct buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buffer_free(struct buffer *buffer);

/* How often memory ran out, of any buffer. */
size_t buffer_failures(void);

/* A quoted JSON string; bytes that are not UTF-8 become U+FFFD. */
void buffer_json(struct buffer *buffer, const char *text);

#endif
