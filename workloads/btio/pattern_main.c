#include <stdlib.h>
#include <unistd.h>

#include "pattern.h"

static void say_start(const PatternConfig *config)
{
    if (config->input != NULL)
        printf(" Reading from input file %s\n", config->input);
}

/* Decides whether all passes read the right values, and writes the reason to `detail`, which has `room`
 * bytes. */
static void judge(PatternReport *report, char *detail, size_t room)
{
    const PatternConfig *config = report->config;
    long long wrong = 0;
    for (int i = 0; i < report->count; i++)
        wrong += report->operations[i].wrong;
    report->detail = detail;
    if (!config->reads || config->no_check) {
        report->status = "not performed";
        snprintf(detail, room, config->reads ? "--no-check was given" : "nothing was read");
    } else if (wrong > 0) {
        report->status = "unsuccessful";
        snprintf(detail, room, "%lld values that were read differ from the written ones", wrong);
    } else {
        report->status = "successful";
        report->detail = NULL;
    }
}

static void say_verdict(const PatternReport *report)
{
    printf("verification             : %s%s%s\n", report->status, report->detail != NULL ? ": " : "",
           report->detail != NULL ? report->detail : "");
}

static int conclude(PatternReport *report, Trouble *trouble)
{
    char detail[128];
    const Domain *domain = report->pattern->domain;
    judge(report, detail, sizeof detail);
    if (domain->rank == 0)
        say_verdict(report);
    pattern_json(report, trouble);
    bool own = report->config->writes && report->config->reads && !report->config->keep;
    if (own && domain->rank == 0)
        unlink(report->pattern->path);
    fail_if_trouble(EXIT_FAILED, trouble, domain->comm);
    return report->status[0] == 'u' ? EXIT_FAILED : EXIT_SUCCESS;
}

int pattern_main(int argc, char **argv, MPI_Comm comm)
{
    static PatternConfig config;
    static Pattern pattern;
    Domain domain;
    Operation operations[2];
    Trouble trouble = {0};
    pattern_config_read(&config, argc, argv, comm);
    domain_lay_out(&domain, config.grid, comm);
    pattern_make(&pattern, &config, &domain);
    PatternReport report = {.config = &config, .pattern = &pattern, .operations = operations};
    if (domain.rank == 0)
        say_start(&config);
    for (int reading = !config.writes; reading <= config.reads; reading++) {
        operations[report.count] = pattern_operate(&pattern, !reading, !config.no_check);
        report.file = result_file(pattern.path);
        if (domain.rank == 0)
            pattern_print(&report, &operations[report.count]);
        report.count++;
    }
    int status = conclude(&report, &trouble);
    pattern_free(&pattern);
    return status;
}
