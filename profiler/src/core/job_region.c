#include "job_region.h"

#include <stdio.h>
#include <string.h>

#include "context.h"
#include "version.h"

/* A byte of a name or value may become \u001f. */
enum { JSON_GROWTH = 6 };

#define COUNT(array) (sizeof(array) / sizeof *(array))

extern char **environ;

/* What decides how files are reached, and where the job ran. */
static const char *const PREFIXES[] = {"OMPI_MCA_",     "ROMIO_", "MPICH_", "SLURM_",   "IOLENS_",
                                       "DARSHAN_",      "DXT_",   "HDF5_",  "PNETCDF_", "I_MPI_",
                                       "LOADEDMODULES", "PE_ENV", "PBS_",   "FI_",      "UCX_"};
/* What the launcher tells its own daemons; one of them is a key. */
static const char *const LAUNCHER[] = {"OMPI_MCA_orte_", "OMPI_MCA_ess"};
static const char *const SECRETS[] = {"KEY",        "TOKEN", "SECRET", "PASS",
                                      "CREDENTIAL", "AUTH",  "COOKIE", "JWT"};

static void add_text(struct buffer *out, const char *name, const char *value)
{
    buffer_format(out, "\"%s\": ", name);
    if (value)
        buffer_json(out, value);
    else
        buffer_put(out, "null", 4);
    buffer_put(out, ", ", 2);
}

/* hosts: names in order of their first rank; rank_host: index into it per rank. */
static void add_hosts(struct buffer *out, const char (*host)[HOST_BYTES], int ranks)
{
    struct buffer index = {0};
    int *first = buffer_add(&index, (size_t)ranks * 2 * sizeof(int)), *place = first + ranks, hosts = 0;
    buffer_format(out, "\"hosts\": [");
    for (int rank = 0; first && rank < ranks; rank++) {
        int known = rank > 0 && strcmp(host[rank], host[rank - 1]) == 0 ? place[rank - 1] : 0;
        while (known < hosts && strcmp(host[first[known]], host[rank]) != 0)
            known++;
        place[rank] = known;
        if (known < hosts)
            continue;
        first[hosts++] = rank;
        buffer_format(out, "%s", known ? ", " : "");
        buffer_json(out, host[rank]);
    }
    buffer_format(out, "], \"rank_host\": [");
    for (int rank = 0; first && rank < ranks; rank++)
        buffer_format(out, "%s%d", rank ? ", " : "", place[rank]);
    buffer_format(out, "], ");
    out->failed |= index.failed;
    buffer_free(&index);
}

/* The lines of `text` as a list. */
static void add_compilers(struct buffer *out, const char *text)
{
    char line[COMPILER_BYTES];
    const char *comma = "";
    buffer_format(out, "\"compiler\": [");
    for (; *text; text += strcspn(text, "\n") + 1) {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\n"), text);
        buffer_format(out, "%s", comma);
        buffer_json(out, line);
        comma = ", ";
    }
    buffer_format(out, "], ");
}

static void add_partial(struct buffer *out)
{
    const int64_t *partial = iolens.partial;
    const char *comma = "";
    buffer_format(out, "\"partial\": [");
    if (iolens.lost) {
        buffer_json(out, iolens.lost);
        comma = ", ";
    }
    for (int m = 0; m < MODULE_COUNT; m++) {
        const char *limit = iolens.choice.most_records[m] > 0 ? "MAX_RECORDS" : modules[m]->limit;
        if (!partial[m])
            continue;
        buffer_format(
            out,
            "%s\"The %s module ran out of room on %lld rank(s); what came later is missing. Raise %s%s.\"",
            comma, modules[m]->name, (long long)partial[m], limit ? limit : "",
            limit ? " or IOLENS_MEMORY" : "IOLENS_MEMORY");
        comma = ", ";
    }
    if (iolens.common_left_out)
        buffer_format(
            out,
            "%s\"More files were used by some ranks and not by others than the table of ranks per file "
            "has rows for; it leaves them out. Raise IOLENS_FILE_RANKS.\"",
            comma);
    buffer_format(out, "], ");
}

static bool begins_with_any(const char *entry, const char *const *prefixes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(entry, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static bool is_chosen(const char *entry)
{
    size_t length = strcspn(entry, "=");
    if (!begins_with_any(entry, PREFIXES, COUNT(PREFIXES)) ||
        begins_with_any(entry, LAUNCHER, COUNT(LAUNCHER)))
        return false;
    for (size_t i = 0; i < COUNT(SECRETS); i++) {
        const char *found = strcasestr(entry, SECRETS[i]);
        if (found && found < entry + length)
            return false;
    }
    return true;
}

void job_region_environment(struct buffer *out, size_t limit)
{
    const char *comma = "";
    buffer_format(out, "{");
    for (char **entry = environ; entry && *entry; entry++) {
        char name[128];
        size_t length = strcspn(*entry, "=");
        if (!is_chosen(*entry) || length >= sizeof name || out->used + JSON_GROWTH * strlen(*entry) > limit)
            continue;
        memcpy(name, *entry, length);
        name[length] = '\0';
        buffer_format(out, "%s", comma);
        buffer_json(out, name);
        buffer_format(out, ": ");
        buffer_json(out, (*entry)[length] ? *entry + length + 1 : "");
        comma = ", ";
    }
    buffer_format(out, "}");
}

void job_region_write(const struct iolens_transport *transport, struct buffer *out)
{
    const struct identity *self = &iolens.identity;
    struct buffer hosts = {0};
    if (transport->rank == 0)
        buffer_add(&hosts, (size_t)transport->size * HOST_BYTES);
    if (transport->gather(self->host, HOST_BYTES, hosts.data) != 0)
        out->failed = true;
    if (transport->rank != 0)
        return;
    buffer_format(out, "{");
    add_text(out, "iolens", IOLENS_VERSION);
    add_text(out, "mpi", transport->mpi_version);
    add_text(out, "io_component", *self->io_component ? self->io_component : NULL);
    add_hosts(out, (const char(*)[HOST_BYTES])hosts.data, transport->size);
    add_text(out, "storage", iolens.settings.storage);
    add_text(out, "clock", iolens.clock.tsc ? "tsc" : "clock_gettime");
    add_text(out, "io_component_used", *iolens.io_component ? iolens.io_component : NULL);
    add_compilers(out, self->compiler);
    add_partial(out);
    buffer_format(out, "\"mounts\": ");
    buffer_put(out, *self->mounts ? self->mounts : "{}", *self->mounts ? strlen(self->mounts) : 2);
    buffer_put(out, ", ", 2);
    buffer_format(out, "\"environment\": ");
    buffer_put(out, self->environment, strlen(self->environment));
    buffer_format(out, "}");
    buffer_free(&hosts);
}
