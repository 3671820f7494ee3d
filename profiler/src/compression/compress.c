#include "compress.h"

#include <dlfcn.h>

#include "../system/adler.h"
#include "../memory/arena.h"
#include "zlib_abi.h"

static struct compressor {
    struct zlib zlib;
    char *memory; /* memory for zlib in place of malloc, reused by each stream; NULL if none was available */
    size_t used;
} iolens_compressor;

/* Long parts are compressed fast, short parts well: 100 000 names (3.3 MB) take 0.04 s at level 1, 0.06 s
 * at level 3. */
enum { FAST = 1, USUAL = 6, LONG_BYTES = 1 << 18 };

/* zlib needs 268 KiB; compatible libraries need up to twice as much. */
enum { MEMORY_BYTES = 1 << 20, ALIGNMENT = 64 };

enum { LONGEST_STORED = 65535 };

/* Bytes that zlib is given at once, and the room for what it makes of them. */
enum { MOST_PIECE = 1 << 20, LEAST_ROOM = 4096, MOST_ROOM = 1 << 20 };

/* zlib's functions call each other by name, and a program that exports its own zlib (Node.js does) replaces
 * some of them. Two versions would then work on the same state, so such a zlib is not used. */
static bool is_mixed(void *library)
{
    static const char *const called_inside[] = {"deflateInit2_", "deflateReset", "deflateResetKeep"};
    for (size_t i = 0; i < sizeof called_inside / sizeof *called_inside; i++) {
        const void *found = dlsym(RTLD_DEFAULT, called_inside[i]);
        if (found && found != dlsym(library, called_inside[i]))
            return true;
    }
    return false;
}

void compress_load(void)
{
    struct zlib *zlib = &iolens_compressor.zlib;
    void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library || is_mixed(library))
        return;
    zlib->deflateInit_ = (__typeof__(zlib->deflateInit_))dlsym(library, "deflateInit_");
    zlib->deflate = (__typeof__(zlib->deflate))dlsym(library, "deflate");
    zlib->deflateEnd = (__typeof__(zlib->deflateEnd))dlsym(library, "deflateEnd");
    if (!zlib->deflateInit_ || !zlib->deflate || !zlib->deflateEnd)
        *zlib = (struct zlib){0};
}

void compress_start(void) { iolens_compressor.memory = pages_alloc(MEMORY_BYTES); }

static void *zlib_alloc(void *opaque, unsigned items, unsigned size)
{
    struct compressor *compressor = opaque;
    size_t bytes = ((size_t)items * size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (!compressor->memory || bytes > MEMORY_BYTES - compressor->used)
        return NULL;
    compressor->used += bytes;
    return compressor->memory + compressor->used - bytes;
}

static void zlib_free(void *opaque, void *memory) { (void)opaque, (void)memory; }

static bool deflated(const struct zlib *zlib, const struct buffer *part, struct buffer *out)
{
    struct zlib_stream stream = {.zalloc = zlib_alloc, .zfree = zlib_free, .opaque = &iolens_compressor};
    iolens_compressor.used = 0;
    int level = part->used < LONG_BYTES ? USUAL : FAST;
    if (zlib->deflateInit_(&stream, level, ZLIB_VERSION_WANTED, (int)sizeof stream) != ZLIB_OK)
        return false;
    size_t left = part->used, room = left / 2 + LEAST_ROOM;
    room = room < MOST_ROOM ? room : MOST_ROOM;
    int state = ZLIB_OK;
    stream.next_in = (unsigned char *)part->data;
    while (state == ZLIB_OK) {
        if (stream.avail_in == 0) {
            stream.avail_in = left < MOST_PIECE ? (unsigned)left : MOST_PIECE;
            left -= stream.avail_in;
        }
        stream.next_out = buffer_add(out, room);
        if (!stream.next_out)
            break;
        stream.avail_out = (unsigned)room;
        state = zlib->deflate(&stream, left == 0 ? ZLIB_FINISH : ZLIB_NO_FLUSH);
        out->used -= stream.avail_out;
    }
    zlib->deflateEnd(&stream);
    return state == ZLIB_STREAM_END;
}

/* Each block has a flag for the last one, its length and the complement of the length (RFC 1951, 3.2.4). */
static bool stored(const struct buffer *part, struct buffer *out)
{
    const unsigned char header[] = {0x78, 0x01}; /* window of 32 KiB, fastest */
    const unsigned char *bytes = (const unsigned char *)part->data;
    size_t done = 0;
    buffer_put(out, header, sizeof header);
    do {
        size_t left = part->used - done, now = left < LONGEST_STORED ? left : LONGEST_STORED;
        const unsigned char low = (unsigned char)now, high = (unsigned char)(now >> 8);
        const unsigned char block[] = {now == left, low, high, (unsigned char)~low, (unsigned char)~high};
        buffer_put(out, block, sizeof block);
        buffer_put(out, bytes + done, now);
        done += now;
    } while (done < part->used);
    uint32_t sum = adler(1, bytes, part->used);
    const unsigned char checksum[] = {(unsigned char)(sum >> 24), (unsigned char)(sum >> 16),
                                      (unsigned char)(sum >> 8), (unsigned char)sum};
    buffer_put(out, checksum, sizeof checksum);
    return !out->failed;
}

bool compress_append(const struct buffer *part, struct buffer *out)
{
    const struct zlib *zlib = &iolens_compressor.zlib;
    return zlib->deflate ? deflated(zlib, part, out) : stored(part, out);
}
