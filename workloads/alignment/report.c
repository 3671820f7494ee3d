#include "run.h"

static const char *const KINDS[DOMAINS_COUNT] = {"even", "stripe-aligned", "bound to stripes"};

typedef struct Findings {
    const Run *run;
    WriteLog writes;
    int64_t unaligned;
    /* Counts of ranks that share a stripe and of ranks that share an object; all are zero if the layout is
     * unknown. */
    Sharing stripes, objects;
    Phase phases[2];
} Findings;

static Findings look(Run *run)
{
    const Config *config = run->config;
    const FileDomains *domains = &run->file.domains;
    long long bytes = (long long)config->segments * run->ranks * config->transfer;
    Findings found = {.run = run, .writes = writes_gather(&run->file.writes, run->comm)};
    found.unaligned = writes_unaligned(&found.writes, domains->stripe_size);
    found.stripes = writes_sharing(&found.writes, domains->stripe_size, 0, domains->aggregators);
    if (run->file.stripe_count > 0)
        found.objects =
            writes_sharing(&found.writes, domains->stripe_size, run->file.stripe_count, domains->aggregators);
    Spread write = spread_over_ranks(run->write_seconds, run->comm);
    Spread read = spread_over_ranks(run->read_seconds, run->comm);
    found.phases[0] = (Phase){"write", bytes, config->segments, write};
    found.phases[1] = (Phase){"read", bytes, config->segments, read};
    return found;
}

static void say_sharing(const char *name, const Sharing *sharing)
{
    printf(" %-8s %lld, written by %.2f aggregators on average, %lld at most; changed hands %lld times\n",
           name, (long long)sharing->units, sharing->mean, (long long)sharing->most,
           (long long)sharing->changes);
}

static void say(const Findings *found)
{
    const Run *run = found->run;
    const FileDomains *domains = &run->file.domains;
    printf("alignment, iolens %s: two-phase collective transfers, file domains %s\n", VERSION,
           KINDS[domains->kind]);
    printf(" %d ranks, %d aggregators, %d calls of %lld bytes a rank\n", run->ranks, domains->aggregators,
           run->config->segments, (long long)run->config->transfer);
    if (run->file.stripe_count > 0)
        printf(" striped over %d targets in stripes of %lld bytes\n", run->file.stripe_count,
               (long long)domains->stripe_size);
    else
        printf(" striping unknown; stripes of %lld bytes assumed\n", (long long)domains->stripe_size);
    for (int i = 0; i < 2; i++)
        printf(" %-8s %.2f MB in %.6f s: %.2f MB/s\n", found->phases[i].operation,
               1e-6 * (double)found->phases[i].bytes, found->phases[i].seconds.max,
               1e-6 * (double)found->phases[i].bytes / found->phases[i].seconds.max);
    printf(" writes   %zu by aggregators, %lld of them begin or end within a stripe\n", found->writes.count,
           (long long)found->unaligned);
    say_sharing("stripes", &found->stripes);
    if (run->file.stripe_count > 0)
        say_sharing("objects", &found->objects);
    if (run->wrong == 0)
        printf(" verification: successful\n");
    else
        printf(" verification: unsuccessful, %lld wrong words\n", run->wrong);
}

static void sharing_json(Json *json, const char *key, const Sharing *sharing)
{
    if (sharing->units == 0) {
        json_null(json, key);
        return;
    }
    json_open(json, key, '{');
    json_integer(json, "count", sharing->units);
    json_integer(json, "most_aggregators", sharing->most);
    json_real(json, "mean_aggregators", sharing->mean);
    json_integer(json, "changes", sharing->changes);
    json_close(json, '}');
}

static void write_extra(Json *json, const void *data)
{
    const Findings *found = data;
    json_text(json, "file_domains", KINDS[found->run->file.domains.kind]);
    json_integer(json, "aggregators", found->run->file.domains.aggregators);
    json_integer(json, "aggregator_writes", (long long)found->writes.count);
    json_integer(json, "unaligned_writes", found->unaligned);
    sharing_json(json, "stripes", &found->stripes);
    sharing_json(json, "objects", &found->objects);
}

static void save_json(Findings *found, int nodes, Trouble *trouble)
{
    const Run *run = found->run;
    Result result = {
        .workload = "alignment",
        .options = &ALIGNMENT_OPTIONS,
        .config = run->config,
        .ranks = run->ranks,
        .nodes = nodes,
        .component = TWO_PHASE_COMPONENT,
        .requested = run->config->hints,
        .effective = run->effective,
        .file_count = 1,
        .phase_count = 2,
        .files = &run->looked_at,
        .phases = found->phases,
        .total_seconds = run->total_seconds,
        .status = run->wrong == 0 ? "successful" : "unsuccessful",
        .extra = write_extra,
        .extra_data = found,
    };
    result_write(&result, run->config->json, trouble);
}

void report(Run *run)
{
    Findings found = look(run);
    int nodes = count_nodes(run->comm);
    if (run->rank == 0) {
        say(&found);
        if (run->config->log != NULL)
            writes_save(&found.writes, run->config->log, &run->trouble);
        if (run->config->json != NULL)
            save_json(&found, nodes, &run->trouble);
    }
    writes_free(&found.writes);
    fail_if_trouble(EXIT_FAILED, &run->trouble, run->comm);
}
