#include "dataset.h"

#include "histogram.h"
#include "timer.h"

enum { META = 2 };

void dataset_meta(struct dataset *dataset, const struct dataset_layout *at, double *doubles, struct span span)
{
    timer_add(&doubles[at->meta], &dataset->last_end[META], span.t0, span.t1);
}

void dataset_opened(struct dataset *dataset, const struct dataset_layout *at, double *doubles,
                    struct span span)
{
    timer_stamp(&doubles[at->open_start], &doubles[at->open_end], span.t0, span.t1);
    dataset_meta(dataset, at, doubles, span);
}

void dataset_closed(struct dataset *dataset, const struct dataset_layout *at, double *doubles,
                    struct span span)
{
    timer_stamp(&doubles[at->close_start], &doubles[at->close_end], span.t0, span.t1);
    dataset_meta(dataset, at, doubles, span);
}

void dataset_moved(struct dataset *dataset, const struct dataset_layout *at, int64_t *ints, double *doubles,
                   bool writing, const struct pattern *pattern, struct span span)
{
    int64_t bytes = pattern->words[0];
    int now = 1 + writing;
    ints[at->bytes + writing] += bytes;
    ints[(writing ? at->sizes_written : at->sizes_read) + histogram_bucket(bytes)]++;
    ints[at->switches] += dataset->latest && dataset->latest != now;
    dataset->latest = now;
    patterns_add(&dataset->patterns, pattern);
    timer_stamp(&doubles[at->transfer_start + writing], &doubles[at->transfer_end + writing], span.t0,
                span.t1);
    timer_add(&doubles[at->transfer_time + writing], &dataset->last_end[writing], span.t0, span.t1);
    if (span.t1 - span.t0 > doubles[at->longest + writing]) {
        doubles[at->longest + writing] = span.t1 - span.t0;
        ints[at->longest_bytes + writing] = bytes;
    }
}
