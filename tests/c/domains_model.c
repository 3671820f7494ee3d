/* Performs collective writes in the storage model, without a clock or a disk: CONFIG KIND AGGREGATORS STRIPES
 * BYTES CALLS. Each call writes the next BYTES of a file over STRIPES targets in stripes of 1 MiB;
 * aggregators are clients, and the rounds of a call end together. Prints `seconds handovers`, flushed. */
#include "file_domain.h"
#include "model.h"
#include "params.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { STRIPE = 1 << 20, BUFFER = 16 << 20, ROOM = 8192 };

static struct ost_params params;
static struct ost_state state;
static struct ost_object objects[OST_MAX_TARGETS];

static double later(double a, double b) { return a > b ? a : b; }

/* Writes the aggregators' spans piece by piece, in the order of time; returns the end of the last one. */
static double write_spans(const struct ost_layout *layout, int count, Span *spans, double begin)
{
    double now[OST_MAX_CLIENTS], end = begin;
    for (int a = 0; a < count; a++)
        now[a] = begin;
    for (;;) {
        int next = -1;
        for (int a = 0; a < count; a++)
            if (spans[a].begin < spans[a].end && (next < 0 || now[a] < now[next]))
                next = a;
        if (next < 0)
            return end;
        Span *span = &spans[next];
        struct ost_piece piece =
            ost_first_piece(layout, params.targets, span->begin, span->end - span->begin);
        now[next] = ost_write(&params, &state, &objects[piece.target], next, &piece, now[next]);
        span->begin += piece.bytes;
        end = later(end, now[next]);
    }
}

static double write_call(const struct ost_layout *layout, const FileDomains *domains, double now)
{
    for (int64_t round = 0; round < domains_rounds(domains); round++) {
        Span spans[OST_MAX_CLIENTS];
        for (int a = 0; a < domains->aggregators; a++)
            spans[a] = domains_span(domains, a, round);
        now = write_spans(layout, domains->aggregators, spans, now);
    }
    return now;
}

int main(int argc, char **argv)
{
    char text[ROOM], problem[256];
    FILE *config = argc == 7 ? fopen(argv[1], "r") : NULL;
    if (config == NULL)
        return 2;
    text[fread(text, 1, sizeof text - 1, config)] = '\0';
    fclose(config);
    if (ost_params_parse(text, &params, problem, sizeof problem) != 0)
        return 2;
    int64_t bytes = atoll(argv[5]), calls = atoll(argv[6]);
    struct ost_layout layout = {STRIPE, atoi(argv[4]), 0};
    FileDomains domains = {(DomainKind)atoi(argv[2]), atoi(argv[3]), STRIPE, BUFFER, {0, 0}};
    for (int t = 0; t < params.targets; t++)
        objects[t].key = (uint64_t)t + 1;
    double now = 0;
    for (int64_t call = 0; call < calls; call++) {
        domains.range = (Span){call * bytes, (call + 1) * bytes};
        now = write_call(&layout, &domains, now);
    }
    double end = now;
    uint64_t handovers = 0;
    for (int t = 0; t < params.targets; t++) {
        handovers += objects[t].handovers;
        for (int a = 0; a < domains.aggregators; a++)
            end = later(end, ost_flushed(&objects[t], a, now));
    }
    printf("%.6f %" PRIu64 "\n", end, handovers);
    return 0;
}
