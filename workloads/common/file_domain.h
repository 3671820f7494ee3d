/* The bytes that each aggregator writes in each round of a two-phase collective transfer: pure functions of
 * the range of a call. Offsets and sizes are bytes of the file. */
#ifndef COMMON_FILE_DOMAIN_H
#define COMMON_FILE_DOMAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds of alignment, with the numbers of Cray MPICH's MPICH_MPIIO_CB_ALIGN. */
typedef enum {
    DOMAINS_EVEN, /* Divides the range evenly, whatever the stripes are. */
    /* Moves inner edges to the nearest stripe boundary, so that each stripe has one aggregator in a call. */
    DOMAINS_ALIGNED,
    /* Stripe k always belongs to aggregator k mod n, one stripe in each round, as in ROMIO's Lustre
     * driver. */
    DOMAINS_BOUND,
    DOMAINS_COUNT,
} DomainKind;

typedef struct Span {
    int64_t begin, end; /* Empty if end <= begin. */
} Span;

typedef struct FileDomains {
    DomainKind kind;
    int aggregators;
    int64_t stripe_size;
    /* Largest number of bytes that an aggregator moves in a round, unless stripes are bound to aggregators:
     * then it is a stripe. */
    int64_t buffer_size;
    Span range; /* Range from the first byte of all ranks to behind the last one. */
} FileDomains;

/* Returns the number of aggregators if `wanted` are requested. If stripes are bound to aggregators, the
 * number divides the stripe count, so that no stripe has two aggregators, or is a multiple of it, with up to
 * `per_stripe` aggregators for each target. A stripe count of 0 (unknown) sets no limit. */
int domains_aggregators(DomainKind kind, int wanted, int stripe_count, int per_stripe);

/* Returns the number of rounds until every aggregator has finished. */
int64_t domains_rounds(const FileDomains *domains);

/* Returns the range of bytes that an aggregator moves in a round. The ranges of all aggregators and rounds
 * together contain each byte exactly once. */
Span domains_span(const FileDomains *domains, int aggregator, int64_t round);

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

typedef struct Layout {
    int stripe_count; /* Number of stripes; 0 if unknown, or if the file system has none. */
    long stripe_size; /* Size of a stripe in bytes. */
} Layout;

Layout layout_of(const char *path);

#endif
