#include "buffer.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "../system/utf8.h"
#include "arena.h"

enum { FIRST_SIZE = 64 * 1024 };

static _Atomic size_t failures;

/* Pages of FIRST_SIZE zeroed bytes each, kept for the next buffers. A short process makes dozens of buffers,
 * a dozen of them at once, and getting new pages from the kernel takes longer than filling them. */
static _Atomic(char *) kept[16];

enum { KEPT = sizeof kept / sizeof *kept, AT_ONCE = KEPT - 2 };

static bool keep(char *pages)
{
    for (size_t i = 0; i < KEPT; i++) {
        char *none = NULL;
        if (!kept[i] && atomic_compare_exchange_strong(&kept[i], &none, pages))
            return true;
    }
    return false;
}

/* Allocates memory for several buffers by one system call, and keeps the memory that is not needed now. */
static char *several_pages(void)
{
    char *pages = pages_alloc((size_t)AT_ONCE * FIRST_SIZE);
    for (int i = 1; pages && i < AT_ONCE; i++)
        if (!keep(pages + (size_t)i * FIRST_SIZE))
            pages_free(pages + (size_t)i * FIRST_SIZE, FIRST_SIZE);
    return pages ? pages : pages_alloc(FIRST_SIZE);
}

/* Returns the pages that were given back last, because these are in memory already. */
static char *first_pages(size_t size)
{
    for (size_t i = size == FIRST_SIZE ? KEPT : 0; i > 0; i--) {
        char *pages = kept[i - 1] ? atomic_exchange(&kept[i - 1], NULL) : NULL;
        if (pages)
            return pages;
    }
    return size == FIRST_SIZE ? several_pages() : pages_alloc(size);
}

size_t buffer_failures(void) { return failures; }

void *buffer_room(struct buffer *buffer, size_t bytes)
{
    if (buffer->used + bytes > buffer->size) {
        size_t size = buffer->size ? buffer->size : FIRST_SIZE;
        while (size < buffer->used + bytes)
            size *= 2;
        void *data = buffer->data ? pages_move(buffer->data, buffer->size, size) : first_pages(size);
        if (!data || data == MAP_FAILED) {
            buffer->failed = true;
            failures++;
            return NULL;
        }
        buffer->data = data;
        buffer->size = size;
    }
    return buffer->data + buffer->used;
}

void *buffer_add(struct buffer *buffer, size_t bytes)
{
    char *room = buffer_room(buffer, bytes);
    if (!room)
        return NULL;
    buffer->used += bytes;
    buffer->touched = buffer->touched > buffer->used ? buffer->touched : buffer->used;
    return room;
}

void buffer_put(struct buffer *buffer, const void *bytes, size_t count)
{
    void *room = buffer_add(buffer, count);
    if (room && count > 0)
        memcpy(room, bytes, count);
}

void buffer_text(struct buffer *buffer, const char *text) { buffer_put(buffer, text, strlen(text)); }

void buffer_format(struct buffer *buffer, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (length > 0)
        buffer_put(buffer, text, length < (int)sizeof text ? (size_t)length : sizeof text - 1);
}

void buffer_free(struct buffer *buffer)
{
    if (buffer->size == FIRST_SIZE)
        memset(buffer->data, 0, buffer->touched);
    if (buffer->size != FIRST_SIZE || !keep(buffer->data))
        pages_free(buffer->data, buffer->size);
    *buffer = (struct buffer){0};
}

/* Returns the number of bytes at the start of `text` that are ASCII and that JSON writes as they are. */
static size_t plain_bytes(const char *text)
{
    size_t count = 0;
    while (text[count] >= 0x20 && (unsigned char)text[count] < 0x80 && text[count] != '"' &&
           text[count] != '\\')
        count++;
    return count;
}

void buffer_json(struct buffer *buffer, const char *text)
{
    buffer_put(buffer, "\"", 1);
    while (*text) {
        size_t plain = plain_bytes(text);
        int length = plain > 0 ? (int)plain : utf8_length((const unsigned char *)text);
        if (length == 0) {
            buffer_put(buffer, "\\ufffd", 6);
            length = 1;
        } else if (*text == '"' || *text == '\\') {
            buffer_format(buffer, "\\%c", *text);
        } else if ((unsigned char)*text < 0x20) {
            buffer_format(buffer, "\\u%04x", *text);
        } else {
            buffer_put(buffer, text, (size_t)length);
        }
        text += length;
    }
    buffer_put(buffer, "\"", 1);
}
