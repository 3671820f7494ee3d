/* The MPI library of the job, and its settings. */
#include <stdio.h>

#include "../../memory/area.h"
#include "../../runtime/wrap.h"
#include "../../system/hash.h"
#include "../../tables/process_table.h"

enum { MOST_SETTINGS = 256, NAME_BYTES = 64, VALUE_BYTES = 128, WORD_BYTES = 16 };

/* Name of the kind of settings that are components of the MPI library. The texts of a setting end with a zero
 * byte even in a damaged spool, because each is copied with a limit. */
#define COMPONENT "component"

struct setting {
    struct setting *next;
    char kind[WORD_BYTES], name[NAME_BYTES], value[VALUE_BYTES], source[WORD_BYTES];
};

struct known_settings {
    struct setting *first;
};

struct row {
    int64_t rank;
    char kind[WORD_BYTES], name[NAME_BYTES], value[VALUE_BYTES], source[WORD_BYTES];
};

static const struct column COLUMNS[] = {
    MERGED(rank, "<i8", "rank",
           "the rank with this setting; a rank above 0 has rows only for settings that differ from rank "
           "0; -1: ranks for which the table had no room",
           COLUMN_RANK),
    TEXT(kind, "S16",
         "library: name and version; component: the open components of the framework `name`; eager limit: "
         "the limit of an open component, in bytes; parameter: a setting of the library that differs from "
         "its default; environment: a set environment variable of MPI or its network that is none of these "
         "parameters",
         TEXT_WORD),
    TEXT(name, "S64", "name of the setting, as the library calls it", TEXT_WORD),
    TEXT(value, "S128", "value of the setting; cut at 127 bytes", TEXT_NAME),
    TEXT(source, "S16",
         "who set the value: default, environment (which `mpirun --mca` uses too), file, command line, "
         "program; empty: the library does not say; not set: rank 0 has this setting, and this rank does not",
         TEXT_WORD),
};

/* Returns the place in the list at which a setting of this name is to be added; NULL if the list is full or
 * has the setting. A component does not count: its entry has the name of its framework, which a parameter may
 * have, too. */
static struct setting **place_for(struct known_settings *settings, const char *name)
{
    struct setting **place = &settings->first;
    int count = 0;
    for (; *place; place = &(*place)->next)
        if (++count == MOST_SETTINGS ||
            (strcmp((*place)->kind, COMPONENT) != 0 && strncmp((*place)->name, name, NAME_BYTES - 1) == 0))
            return NULL;
    return place;
}

IOLENS_EXPORT void iolens_mpi_setting(const char *kind, const char *name, const char *value,
                                      const char *source)
{
    struct known_settings *settings = iolens_active() ? table_state(TABLE_mpi_settings) : NULL;
    struct setting **place = settings ? place_for(settings, name) : NULL;
    struct setting *fresh = place ? arena_alloc(&iolens.arena, sizeof *fresh) : NULL;
    if (!fresh)
        return;
    snprintf(fresh->kind, sizeof fresh->kind, "%s", kind);
    snprintf(fresh->name, sizeof fresh->name, "%s", name);
    snprintf(fresh->value, sizeof fresh->value, "%s", value);
    snprintf(fresh->source, sizeof fresh->source, "%s", source);
    *place = fresh;
}

/* Returns true if the list of settings is whole. It must not be longer than the limit, so that a damaged list
 * cannot be endless. */
static bool validate(const void *state, const struct area *area)
{
    int count = 0;
    for (const struct setting *one = ((const struct known_settings *)state)->first; one; one = one->next)
        if (!area_holds(area, one, sizeof *one, 1) || ++count > MOST_SETTINGS)
            return false;
    return true;
}

static void copy(char *to, const char *from, size_t size) { memcpy(to, from, strnlen(from, size - 1)); }

static void put_all(const struct known_settings *settings, struct buffer *rows)
{
    for (const struct setting *one = settings ? settings->first : NULL; one; one = one->next) {
        struct row row = {0};
        copy(row.kind, one->kind, sizeof row.kind);
        copy(row.name, one->name, sizeof row.name);
        copy(row.value, one->value, sizeof row.value);
        copy(row.source, one->source, sizeof row.source);
        buffer_put(rows, &row, sizeof row);
    }
}

/* Numbers by which ranks find out whether all have the same settings; each is added up over all ranks. */
static struct {
    /* Hash of this rank's settings, hash of rank 0's settings, and number of ranks that have settings. */
    int64_t all, first, ranks;
} sums;

static void count(int rank)
{
    struct buffer own = {0};
    put_all(table_state_known(TABLE_mpi_settings), &own);
    sums.all = own.used > 0 ? (int64_t)record_id(own.data, own.used) : 0;
    sums.first = rank == 0 ? sums.all : 0;
    sums.ranks = own.used > 0;
    buffer_free(&own);
}

/* Returns true if `rows` contains a row that equals the given row. Whole rows can be compared, because their
 * rank numbers are entered later. */
static bool has(const struct buffer *rows, const struct row *row)
{
    const struct row *all = (const struct row *)rows->data;
    for (size_t i = 0; i < rows->used / sizeof *all; i++)
        if (memcmp(&all[i], row, sizeof *row) == 0)
            return true;
    return false;
}

static bool has_name(const struct buffer *rows, const struct row *row)
{
    const struct row *all = (const struct row *)rows->data;
    for (size_t i = 0; i < rows->used / sizeof *all; i++)
        if (strcmp(all[i].kind, row->kind) == 0 && strcmp(all[i].name, row->name) == 0)
            return true;
    return false;
}

/* Adds the settings of `own` that differ from those of `first`. While there are fewer rows than `own` has,
 * also adds each setting that only `first` has, as `not set`. */
static void put_differences(const struct buffer *first, const struct buffer *own, struct buffer *rows)
{
    const struct row *mine = (const struct row *)own->data, *theirs = (const struct row *)first->data;
    for (size_t i = 0; i < own->used / sizeof *mine; i++)
        if (!has(first, &mine[i]))
            buffer_put(rows, &mine[i], sizeof *mine);
    for (size_t i = 0; i < first->used / sizeof *theirs; i++) {
        struct row row = theirs[i];
        memset(row.value, 0, sizeof row.value);
        memset(row.source, 0, sizeof row.source);
        snprintf(row.source, sizeof row.source, "not set");
        if (rows->used < own->used && !has_name(own, &row))
            buffer_put(rows, &row, sizeof row);
    }
}

/* Collective. Sends the rows of rank 0 to all ranks. */
static bool share_first(const struct iolens_transport *transport, const struct buffer *own,
                        struct buffer *first)
{
    uint64_t bytes = own->used;
    if (transport->bcast(&bytes, sizeof bytes, 0) != 0)
        return false;
    if (bytes == 0) /* Rank 0 has no rows if it is not recorded. */
        return true;
    void *data = buffer_add(first, bytes);
    if (data && transport->rank == 0)
        memcpy(data, own->data, bytes);
    return data && transport->bcast(data, bytes, 0) == 0;
}

/* Removes the settings that equal those of rank 0 from the rows. */
static void leave_out_common(const struct iolens_transport *transport, struct buffer *rows)
{
    struct buffer own = *rows, first = {0};
    *rows = (struct buffer){0};
    rows->failed = !share_first(transport, &own, &first);
    if (transport->rank == 0)
        buffer_put(rows, own.data, own.used);
    else
        put_differences(&first, &own, rows);
    buffer_free(&own);
    buffer_free(&first);
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    put_all(table_state_known(TABLE_mpi_settings), rows);
    if (sums.all != sums.first * sums.ranks)
        leave_out_common(transport, rows);
    else if (transport->rank > 0)
        rows->used = 0;
    struct row *all = (struct row *)rows->data;
    for (size_t i = 0; i < rows->used / sizeof *all; i++)
        all[i].rank = transport->rank;
}

static int64_t most_rows(void)
{
    int64_t rows = 0;
    const struct known_settings *settings = table_state_known(TABLE_mpi_settings);
    for (const struct setting *one = settings ? settings->first : NULL; one; one = one->next)
        rows++;
    return rows;
}

/* Returns the weight of a row: if there are too many rows, those of rank 0 are kept. */
static int64_t weight(const void *row) { return ((const struct row *)row)->rank == 0; }

static size_t rest(void *row)
{
    *(struct row *)row = (struct row){.rank = -1, .name = "(others)"};
    return 0;
}

const struct process_table table_mpi_settings = {
    .name = "mpi_settings",
    .meaning = "The MPI library and its settings at the end of MPI_Init, where MPI is traced. When all ranks "
               "together have more rows than IOLENS_FILE_RANKS, a row of rank -1 says that rows are missing",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct known_settings),
    .recording.validate = validate,
    .merging.on_demand = true,
    .merging.count = count,
    .merging.sums = &sums.all,
    .merging.sum_count = sizeof sums / sizeof(int64_t),
    .merging.collect = collect,
    .merging.weight = weight,
    .merging.rest = rest,
    .merging.rest_slots = 1,
    .merging.most_rows = most_rows,
};
