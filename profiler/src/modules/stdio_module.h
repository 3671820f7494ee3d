/* The STDIO module: its record, and the events that the wrapped functions end in (stdio_kinds.h). */
#ifndef IOLENS_STDIO_MODULE_H
#define IOLENS_STDIO_MODULE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../runtime/wrap.h"
#include "heatmap.h"
#include "../records/shape.h"
#include "streams.h"

enum stdio_int {
#define INT(name, merge) STDIO_##name,
#define DOUBLE(name, merge)
#include "stdio_counters.def"
#undef INT
#undef DOUBLE
    STDIO_INTS
};

enum stdio_double {
#define INT(name, merge)
#define DOUBLE(name, merge) STDIO_F_##name,
#include "stdio_counters.def"
#undef INT
#undef DOUBLE
    STDIO_DOUBLES
};

struct stdio_record {
    struct record_base base;
    int64_t ints[STDIO_INTS];
    double doubles[STDIO_DOUBLES];
};

_Static_assert(sizeof(struct stdio_record) == 248, "Darshan's STDIO record of version 2 has 248 bytes");

struct stdio_state {
    struct stdio_record record;
    struct spin lock;
    struct lustre_state *stripes; /* NULL: the file has no layout */
    double last_end[3];           /* read, write, meta: end of the latest operation */
    struct heat heat;
};

void stdio_on_fopen(const struct call *c, FILE *stream, const char *path, const char *mode);
void stdio_on_fdopen(const struct call *c, FILE *stream, int fd, const char *mode);
void stdio_on_read(const struct call *c, FILE *stream, int64_t bytes);
void stdio_on_write(const struct call *c, FILE *stream, int64_t bytes);
void stdio_on_flush(const struct call *c, FILE *stream);

/* `done` of the items that were asked for; part of another may have moved the position. */
void stdio_on_items_read(const struct call *c, FILE *stream, size_t size, size_t asked, size_t done);
void stdio_on_items_written(const struct call *c, FILE *stream, size_t size, size_t asked, size_t done);
/* What fgets read into `room` bytes: counted up to the first byte of 0, though more may have been read. */
void stdio_on_string(const struct call *c, FILE *stream, const char *string, int room);
/* What getline and fgetc returned. */
void stdio_on_line(const struct call *c, FILE *stream, ssize_t bytes);
void stdio_on_letter(const struct call *c, FILE *stream, int letter);
void stdio_on_word(const struct call *c, FILE *stream, int word); /* getw */
void stdio_on_unget(FILE *stream);
/* The position moved, and nothing was counted; a read of nothing may have written what was buffered. */
void stdio_on_drift(FILE *stream);
void stdio_on_seek(const struct call *c, FILE *stream, int result); /* one that failed may have flushed */

/* Closing and reopening take the stream and its descriptor out before they are gone. */
void stdio_before_close(struct call *c, FILE *stream);
void stdio_on_close(const struct call *c);
void stdio_before_reopen(FILE *stream, const char *path);

/* Position before a formatted read, whose size only the position tells. */
void stdio_before_scan(struct call *c, FILE *stream);
void stdio_on_scan(const struct call *c, FILE *stream, int items);

#endif
