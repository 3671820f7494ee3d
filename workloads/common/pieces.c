#include <stdlib.h>

#include "file_domain.h"

/* Returns the index of the first piece that ends behind `offset`. */
static size_t first_behind(const Request *request, int64_t offset)
{
    size_t low = 0, high = request->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const Piece *piece = &request->pieces[middle];
        if (piece->offset + piece->bytes <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

char *pieces_clip(const Request *request, Span span, Piece *out, Share *share)
{
    char *data = NULL;
    *share = (Share){0};
    for (size_t i = first_behind(request, span.begin); i < request->count; i++) {
        const Piece *piece = &request->pieces[i];
        int64_t begin = piece->offset > span.begin ? piece->offset : span.begin;
        int64_t end = piece->offset + piece->bytes < span.end ? piece->offset + piece->bytes : span.end;
        if (begin >= end)
            break;
        if (share->pieces == 0)
            data = request->data + request->places[i] + (begin - piece->offset);
        out[share->pieces++] = (Piece){begin, end - begin};
        share->bytes += (int)(end - begin);
    }
    return data;
}

static int by_offset(const void *a, const void *b)
{
    const Piece *one = a, *other = b;
    return (one->offset > other->offset) - (one->offset < other->offset);
}

int pieces_join(Piece *pieces, int count)
{
    int last = 0;
    qsort(pieces, (size_t)count, sizeof *pieces, by_offset);
    for (int i = 1; i < count; i++) {
        int64_t end = pieces[last].offset + pieces[last].bytes;
        int64_t own_end = pieces[i].offset + pieces[i].bytes;
        if (pieces[i].offset > end)
            pieces[++last] = pieces[i];
        else if (own_end > end)
            pieces[last].bytes = own_end - pieces[last].offset;
    }
    return count > 0 ? last + 1 : 0;
}
