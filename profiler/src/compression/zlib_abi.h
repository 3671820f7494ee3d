/* The part of zlib's stable binary interface that is used here, for machines that have the library but not
 * its development package. */
#ifndef IOLENS_ZLIB_ABI_H
#define IOLENS_ZLIB_ABI_H

struct zlib_stream {
    const unsigned char *next_in;
    unsigned avail_in;
    unsigned long total_in;
    unsigned char *next_out;
    unsigned avail_out;
    unsigned long total_out;
    const char *msg;
    void *state;
    void *(*zalloc)(void *opaque, unsigned items, unsigned size);
    void (*zfree)(void *opaque, void *memory);
    void *opaque;
    int data_type;
    unsigned long adler, reserved;
};

enum { ZLIB_NO_FLUSH = 0, ZLIB_FINISH = 4, ZLIB_OK = 0, ZLIB_STREAM_END = 1 };

/* zlib compares the first digit of the version and the size of the structure. */
#define ZLIB_VERSION_WANTED "1"

/* The functions of zlib; all NULL without the library. */
struct zlib {
    int (*deflateInit_)(struct zlib_stream *stream, int level, const char *version, int stream_size);
    int (*deflate)(struct zlib_stream *stream, int flush);
    int (*deflateEnd)(struct zlib_stream *stream);
};

#endif
