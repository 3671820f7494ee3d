/* pack_units ROW PIECE: compresses standard input, in pieces of PIECE bytes, to standard output: as rows of
 * ROW bytes, or as plain bytes if ROW is 0. Before that it compresses other bytes into a stream that is
 * discarded. */
#define _GNU_SOURCE
#include "../../profiler/src/memory/buffer.c"
#include "../../profiler/src/compression/pack.c"
#include "posix_expect.h"

void *pages_alloc(size_t bytes)
{
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

void *pages_move(void *pages, size_t bytes, size_t more)
{
    return mremap(pages, bytes, more, MREMAP_MAYMOVE);
}

void pages_free(void *pages, size_t bytes) { munmap(pages, bytes); }

int main(int count, char **argument)
{
    struct buffer in = {0}, out = {0};
    struct packer packer;
    size_t row = count == 3 ? (size_t)atol(argument[1]) : 0, piece = row ? (size_t)atol(argument[2]) : 0;
    MUST(row == 0 || (pack_takes(row) && piece % 8 == 0 && piece > 0));
    for (ssize_t got = 1; got > 0; in.used -= 65536 - (size_t)got)
        got = read(0, buffer_add(&in, 65536), 65536);
    if (row == 0) {
        struct buffer earlier = {0};
        MUST(pack_bytes(&in, &earlier) && pack_bytes(&in, &out));
        MUST(write(1, out.data, out.used) == (ssize_t)out.used);
        return 0;
    }
    pack_open(&packer, &out, row);
    for (size_t at = 0; at < in.used; at += piece)
        pack(&packer, in.data + at, in.used - at < piece ? in.used - at : piece);
    MUST(pack_close(&packer));
    MUST(write(1, out.data, out.used) == (ssize_t)out.used);
    return 0;
}
