/* Checks file domains over many ranges, then prints the spans of one: KIND AGGREGATORS STRIPE BUFFER BEGIN
 * END as lines `round aggregator begin end`. Prints what is wrong and exits 1. */
#include "file_domain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 512 };

static int wrong;

static void expect(int good, const char *what, const FileDomains *domains)
{
    if (good)
        return;
    fprintf(stderr,
            "wrong: %s: kind %d, %d aggregators, stripe %" PRId64 ", buffer %" PRId64 ", %" PRId64
            " to %" PRId64 "\n",
            what, (int)domains->kind, domains->aggregators, domains->stripe_size, domains->buffer_size,
            domains->range.begin, domains->range.end);
    wrong = 1;
}

/* Checks that each byte of the range belongs to one aggregator and round, and that no byte outside belongs to
 * any. */
static void check_cover(const FileDomains *domains)
{
    int owners[MOST_BYTES] = {0}, aggregator_of[MOST_BYTES];
    int64_t stripe = domains->stripe_size;
    int64_t most = domains->kind == DOMAINS_BOUND ? stripe : domains->buffer_size;
    for (int64_t round = 0; round < domains_rounds(domains); round++)
        for (int a = 0; a < domains->aggregators; a++) {
            Span span = domains_span(domains, a, round);
            expect(span.end - span.begin <= most, "a span is larger than the buffer", domains);
            for (int64_t at = span.begin; at < span.end; at++) {
                owners[at]++;
                aggregator_of[at] = a;
            }
        }
    for (int64_t at = 0; at < MOST_BYTES; at++) {
        int inside = at >= domains->range.begin && at < domains->range.end;
        expect(owners[at] == inside, "a byte has not exactly one owner", domains);
        if (inside && domains->kind == DOMAINS_BOUND)
            expect(aggregator_of[at] == at / stripe % domains->aggregators, "a stripe moved", domains);
        if (inside && domains->kind == DOMAINS_ALIGNED && at % stripe != 0 && at > domains->range.begin)
            expect(aggregator_of[at] == aggregator_of[at - 1], "a stripe has two aggregators", domains);
    }
}

static void check_many(void)
{
    for (int kind = 0; kind < DOMAINS_COUNT; kind++)
        for (int aggregators = 1; aggregators <= 5; aggregators++)
            for (int64_t stripe = 1; stripe <= 64; stripe *= 4)
                for (int64_t buffer = 5; buffer <= 80; buffer += 25)
                    for (int64_t begin = 0; begin < 70; begin += 23)
                        for (int64_t bytes = 0; bytes <= 400; bytes += 57)
                            check_cover(&(FileDomains){
                                (DomainKind)kind, aggregators, stripe, buffer, {begin, begin + bytes}});
}

int main(int argc, char **argv)
{
    check_many();
    if (argc != 7)
        return wrong;
    FileDomains domains = {
        .kind = (DomainKind)atoi(argv[1]),
        .aggregators = atoi(argv[2]),
        .stripe_size = atoll(argv[3]),
        .buffer_size = atoll(argv[4]),
        .range = {atoll(argv[5]), atoll(argv[6])},
    };
    for (int64_t round = 0; round < domains_rounds(&domains); round++)
        for (int a = 0; a < domains.aggregators; a++) {
            Span span = domains_span(&domains, a, round);
            if (span.begin < span.end)
                printf("%" PRId64 " %d %" PRId64 " %" PRId64 "\n", round, a, span.begin, span.end);
        }
    return wrong;
}
