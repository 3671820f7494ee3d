/* Pieces of a file (runs of bytes), and a rank's request that consists of pieces. */
#ifndef COMMON_PIECES_H
#define COMMON_PIECES_H

#include "file_domain.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct Piece {
    int64_t offset, bytes;
} Piece;

/* A rank's pieces in a call, in the order of the file; the data of piece i begins at place[i]. */
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

/* Stores the pieces of the request that lie in `span` in `out` and their number in `share`; returns the
 * address of their data, NULL if there are none. */
char *pieces_clip(const Request *request, Span span, Piece *out, Share *share);

/* Sorts the pieces and joins those that touch or overlap; returns the remaining number. */
int pieces_join(Piece *pieces, int count);

#endif
