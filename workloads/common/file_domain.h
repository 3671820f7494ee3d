/* The bytes that each aggregator writes in each round of a two-phase collective transfer: pure functions of
 * the range of a call. Offsets and sizes are bytes of the file. */
#ifndef COMMON_FILE_DOMAIN_H
#define COMMON_FILE_DOMAIN_H

#include <stdint.h>

/* Kinds of alignment, with the numbers of Cray MPICH's MPICH_MPIIO_CB_ALIGN. */
typedef enum {
    DOMAINS_EVEN,    /* the range divided evenly, whatever the stripes */
    DOMAINS_ALIGNED, /* its inner edges moved to the nearest stripe boundary: one aggregator per stripe and
                      * call
                      */
    DOMAINS_BOUND,   /* stripe k always belongs to aggregator k mod n, one stripe in each round, which is what
                      * ROMIO's Lustre driver does */
    DOMAINS_COUNT,
} DomainKind;

typedef struct Span {
    int64_t begin, end; /* nothing when end <= begin */
} Span;

typedef struct FileDomains {
    DomainKind kind;
    int aggregators;
    int64_t stripe_size;
    int64_t buffer_size; /* most that an aggregator moves in a round; bound stripes have their own size */
    Span range;          /* from the first to behind the last byte of all ranks */
} FileDomains;

/* Aggregators in use when `wanted` are asked for. Bound stripes need as many as divide the stripe count, so
 * that none serves two aggregators, or, up to `per_stripe` for each target, a multiple of it. A stripe count
 * of 0 (unknown) sets no limit. */
int domains_aggregators(DomainKind kind, int wanted, int stripe_count, int per_stripe);

/* Rounds until every aggregator is through. */
int64_t domains_rounds(const FileDomains *domains);

/* Returns the bytes that an aggregator moves in a round. The spans of all aggregators and rounds cover the
 * range, each byte once. */
Span domains_span(const FileDomains *domains, int aggregator, int64_t round);

#endif
