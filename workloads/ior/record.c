#include "record.h"

#include <stdlib.h>
#include <string.h>

#include "print.h"
#include "two_phase.h"

static void write_extra(Json *json, const void *data)
{
    const Test *test = data;
    json_open(json, "rows", '[');
    for (int i = 0; i < test->count; i++) {
        const Outcome *o = &test->rows[i].outcome;
        json_open(json, NULL, '{');
        json_text(json, "access", print_access(&test->rows[i]));
        json_integer(json, "repetition", o->repetition);
        json_real(json, "open_seconds", o->open);
        json_real(json, "transfer_seconds", o->move);
        json_real(json, "close_seconds", o->close);
        json_real(json, "total_seconds", o->total);
        json_real(json, "latency_seconds", test->rows[i].is_removal ? 0.0 : o->latency);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_integer(json, "wrong_transfers", test->errors);
    json_real(json, "cached_before_read", test->cached);
}

void record_write(const Test *test, const char *path, Trouble *trouble)
{
    const Settings *s = test->settings;
    Phase *phases = allocate((size_t)test->count + 1, sizeof *phases);
    int count = 0;
    double total = 0.0;
    for (int i = 0; i < test->count; i++) {
        const Outcome *o = &test->rows[i].outcome;
        if (test->rows[i].is_removal)
            continue;
        Phase phase = {print_access(&test->rows[i]), o->bytes, o->bytes / test->team.tasks / s->transfer,
                       o->seconds};
        phase.seconds.max = o->total; /* IOR's bandwidth is the bytes divided by the time from the first open
                                       * to the last close. */
        phases[count++] = phase;
        total += o->total;
    }
    Result result = {
        .workload = "ior",
        .options = &IOR_OPTIONS,
        .config = s,
        .ranks = test->team.tasks,
        .nodes = test->team.nodes,
        .component = strcmp(s->driver, DRIVER_LUSTRE_LIKE) == 0 ? TWO_PHASE_COMPONENT : NULL,
        .requested = s->hints,
        .effective = test->effective,
        .file_count = test->file.path != NULL,
        .files = &test->file,
        .phase_count = count,
        .phases = phases,
        .total_seconds = total,
        .status = test->errors > 0   ? "unsuccessful"
                  : test->checks > 0 ? "successful"
                                     : "not performed",
        .detail = test->checks > 0 ? NULL : "the data was not checked, since neither -W nor -R was given",
        .extra = write_extra,
        .extra_data = test,
    };
    result_write(&result, path, trouble);
    free(phases);
}
