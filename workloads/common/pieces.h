/* Pieces of a file (runs of bytes), and a rank's request that consists of pieces. */
#ifndef COMMON_PIECES_H
#define COMMON_PIECES_H

#include "file_domain.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct Piece {
    int64_t offset, bytes;
} Piece;

/* A rank's pieces in one call, in the order of the file. The data of piece i begins at places[i] in
 * `data`. */
typedef struct Request {
    const Piece *pieces;
    size_t count;
    int64_t *places;
    char *data;
    bool writing;
} Request;

/* Number of pieces, and of bytes, that one rank has in the span of one aggregator. */
typedef struct Share {
    int pieces, bytes;
} Share;

/* Writes the parts of the request's pieces that lie in `span` to `out`, and their number and bytes to
 * `share`. Returns the address of their data, or NULL if there are none. */
char *pieces_clip(const Request *request, Span span, Piece *out, Share *share);

/* Sorts the pieces and joins those that touch or overlap; returns the remaining number. */
int pieces_join(Piece *pieces, int count);

#endif
