#include "file_domain.h"

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t whole(int64_t bytes, int64_t unit) { return (bytes + unit - 1) / unit; }

int domains_aggregators(DomainKind kind, int wanted, int stripe_count, int per_stripe)
{
    if (kind != DOMAINS_BOUND || stripe_count < 1)
        return wanted;
    if (wanted >= stripe_count)
        return stripe_count * (int)smaller(wanted / stripe_count, larger(per_stripe, 1));
    while (stripe_count % wanted != 0)
        wanted--;
    return wanted;
}

/* Returns the start of an aggregator's domain, at which the previous domain ends. */
static int64_t edge(const FileDomains *domains, int aggregator)
{
    Span range = domains->range;
    int64_t stripe = domains->stripe_size;
    int64_t share = whole(range.end - range.begin, domains->aggregators);
    int64_t at = smaller(range.begin + share * aggregator, range.end);
    if (domains->kind == DOMAINS_EVEN || aggregator == 0 || aggregator == domains->aggregators)
        return at;
    return larger(range.begin, smaller((at + stripe / 2) / stripe * stripe, range.end));
}

/* Returns the offset at which the first round of a domain begins. Unless domains are even, that is the stripe
 * boundary at or before `begin`, so that the buffers of all rounds end at stripe boundaries. */
static int64_t base(const FileDomains *domains, int64_t begin)
{
    return domains->kind == DOMAINS_EVEN ? begin : begin - begin % domains->stripe_size;
}

/* Returns the number of the round that moves the byte at `offset`, for domains bound to stripes: each round
 * has one stripe for each aggregator. */
static int64_t row_of(const FileDomains *domains, int64_t offset)
{
    return offset / domains->stripe_size / domains->aggregators;
}

int64_t domains_rounds(const FileDomains *domains)
{
    int64_t rounds = 0;
    if (domains->range.end <= domains->range.begin)
        return 0;
    if (domains->kind == DOMAINS_BOUND)
        return row_of(domains, domains->range.end - 1) - row_of(domains, domains->range.begin) + 1;
    for (int a = 0; a < domains->aggregators; a++) {
        int64_t begin = edge(domains, a), end = edge(domains, a + 1);
        if (begin < end)
            rounds = larger(rounds, whole(end - base(domains, begin), domains->buffer_size));
    }
    return rounds;
}

Span domains_span(const FileDomains *domains, int aggregator, int64_t round)
{
    Span domain = domains->range, span;
    if (domains->kind == DOMAINS_BOUND) {
        int64_t row = row_of(domains, domain.begin) + round;
        span.begin = (row * domains->aggregators + aggregator) * domains->stripe_size;
        span.end = span.begin + domains->stripe_size;
    } else {
        domain = (Span){edge(domains, aggregator), edge(domains, aggregator + 1)};
        span.begin = base(domains, domain.begin) + round * domains->buffer_size;
        span.end = span.begin + domains->buffer_size;
    }
    return (Span){larger(span.begin, domain.begin), smaller(span.end, domain.end)};
}
