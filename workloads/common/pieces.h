/* Runs of bytes of a file, and a rank's request made of them. */
#ifndef COMMON_PIECES_H
#define COMMON_PIECES_H

#include "file_domain.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct Piece {
    int64_t offset, bytes;
} Piece;

/* A rank's pieces in a call, in the order of the file; piece i begins at place[i] of the data. */
typedef struct Request {
    const Piece *pieces;
    size_t count;
    int64_t *places;
    char *data;
    bool writing;
} Request;

/* The bytes of one rank in the span of one aggregator. */
typedef struct Share {
    int pieces, bytes;
} Share;

/* Writes what of the request lies in `span` to `out` and returns where its data begins, NULL when there is
 * none. */
char *pieces_clip(const Request *request, Span span, Piece *out, Share *share);

/* Sorts the pieces and joins those that touch or overlap; returns how many are left. */
int pieces_join(Piece *pieces, int count);

#endif
