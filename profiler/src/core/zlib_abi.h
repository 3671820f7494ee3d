/* zlib's stable binary interface, as far as it is used here: for machines that have the library, as every
 * system does, but not its development package. */
#ifndef IOLENS_ZLIB_ABI_H
#define IOLENS_ZLIB_ABI_H

#if defined(__has_include) && __has_include(<zlib.h>)
#include <zlib.h>
#else

typedef struct z_stream {
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
} z_stream;

enum { Z_NO_FLUSH = 0, Z_FINISH = 4, Z_OK = 0, Z_STREAM_END = 1 };

int deflateInit_(z_stream *stream, int level, const char *version, int stream_size);
int deflate(z_stream *stream, int flush);
int deflateEnd(z_stream *stream);
unsigned long adler32(unsigned long checksum, const unsigned char *bytes, unsigned count);

/* zlib compares the first digit of the version and the size of the structure. */
#define deflateInit(stream, level) deflateInit_(stream, level, "1", (int)sizeof(z_stream))

#endif
#endif
