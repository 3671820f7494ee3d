#include <stdio.h>

#include "../../files/registry.h"
#include "pnetcdf.h"

static struct ids iolens_variables; /* State of each variable of the open files, by the key that key_of()
                                     * returns. */

static const struct dataset_layout AT = {
    .bytes = PNETCDF_VAR_BYTES_READ,
    .switches = PNETCDF_VAR_RW_SWITCHES,
    .longest_bytes = PNETCDF_VAR_MAX_READ_TIME_SIZE,
    .sizes_read = PNETCDF_VAR_SIZE_READ_AGG_0_100,
    .sizes_written = PNETCDF_VAR_SIZE_WRITE_AGG_0_100,
    .open_start = PNETCDF_VAR_F_OPEN_START,
    .close_start = PNETCDF_VAR_F_CLOSE_START,
    .open_end = PNETCDF_VAR_F_OPEN_END,
    .close_end = PNETCDF_VAR_F_CLOSE_END,
    .transfer_start = PNETCDF_VAR_F_READ_START,
    .transfer_end = PNETCDF_VAR_F_READ_END,
    .transfer_time = PNETCDF_VAR_F_READ_TIME,
    .longest = PNETCDF_VAR_F_MAX_READ_TIME,
    .meta = PNETCDF_VAR_F_META_TIME,
};

/* Bytes of each external type of netCDF, by its number from NC_BYTE (1) to NC_UINT64 (11). */
static const unsigned char TYPE_BYTES[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};

/* Description of a variable, read from PnetCDF. */
struct description {
    char name[PNETCDF_NAME_MOST];
    int rank, record_dimension;
    int64_t points, type_bytes; /* Number of points in one record. */
};

static bool describe(int nc, int var, struct description *d)
{
    const struct pnetcdf_calls *pnetcdf = pnetcdf_calls();
    int type = 0, attributes, dimensions[PNETCDF_RANK_MOST], unlimited = -1;
    if (pnetcdf->inq_varndims(nc, var, &d->rank) != 0 || d->rank > PNETCDF_RANK_MOST ||
        pnetcdf->inq_var(nc, var, d->name, &type, NULL, dimensions, &attributes) != 0)
        return false;
    pnetcdf->inq_unlimdim(nc, &unlimited);
    bool record = d->rank > 0 && unlimited >= 0 && dimensions[0] == unlimited;
    d->record_dimension = record ? unlimited : -1;
    d->type_bytes = type > 0 && type < (int)sizeof TYPE_BYTES ? TYPE_BYTES[type] : 0;
    d->points = 1;
    for (int i = record; i < d->rank; i++) {
        mpi_offset length = 0;
        pnetcdf->inq_dimlen(nc, dimensions[i], &length);
        d->points *= length;
    }
    return true;
}

static int64_t key_of(int nc, int var) { return (int64_t)nc << 32 | (uint32_t)var; }

/* Returns the state of a variable, whose record has the name FILE:VARIABLE; NULL without a record. */
static struct pnetcdf_var *state_of(int nc, const char *name)
{
    char path[PATH_BYTES + PNETCDF_NAME_MOST + 1];
    struct file *file = pnetcdf_path(path, nc) ? registry_file(path) : NULL;
    if (!file)
        return NULL;
    size_t used = strlen(path);
    snprintf(path + used, sizeof path - used, ":%s", name);
    struct file *own = registry_file(path);
    struct pnetcdf_var *state = own ? registry_state(own, MODULE_PNETCDF_VAR, -1) : NULL;
    if (state)
        state->ints[PNETCDF_VAR_FILE_ID] = (int64_t)file->id;
    return state;
}

void pnetcdf_on_variable(const struct call *c, int nc, int var)
{
    struct description found;
    struct pnetcdf_var *state =
        pnetcdf_calls() && describe(nc, var, &found) ? state_of(nc, found.name) : NULL;
    if (!state)
        return;
    spin_lock(&state->dataset.lock);
    state->ints[PNETCDF_VAR_OPENS]++;
    state->ints[PNETCDF_VAR_NDIMS] = found.rank;
    state->ints[PNETCDF_VAR_NPOINTS] = found.points;
    state->ints[PNETCDF_VAR_DATATYPE_SIZE] = found.type_bytes;
    state->ints[PNETCDF_VAR_IS_RECORD_VAR] = found.record_dimension >= 0;
    state->record_dimension = found.record_dimension;
    dataset_opened(&state->dataset, &AT, state->doubles, (struct span){c->t0, c->t1});
    spin_unlock(&state->dataset.lock);
    ids_put(&iolens_variables, key_of(nc, var), state);
}

static int64_t product(const mpi_offset *count, int64_t rank)
{
    int64_t elements = 1;
    for (int64_t i = 0; i < rank; i++)
        elements *= count[i];
    return elements;
}

/* Returns the number of elements in all parts of an access together. */
static int64_t in_pieces(const struct extent *extent, int64_t rank)
{
    int64_t elements = 0;
    for (int i = 0; i < extent->pieces; i++)
        elements += extent->counts && extent->counts[i] ? product(extent->counts[i], rank) : 1;
    return elements;
}

/* Returns the number of elements of the whole variable, with all records that the file has now. */
static int64_t whole(const struct pnetcdf_var *var, int nc)
{
    mpi_offset records = 1;
    if (var->record_dimension >= 0)
        pnetcdf_calls()->inq_dimlen(nc, var->record_dimension, &records);
    return var->ints[PNETCDF_VAR_NPOINTS] * records;
}

static int64_t type_bytes(mpi_type type)
{
    int bytes = 0;
    if (type != pnetcdf_calls()->type_null)
        pnetcdf_calls()->type_size(type, &bytes);
    return bytes;
}

/* Fills in the lengths of an access in each dimension, beginning with the fastest, and its strides if the
 * call has any. */
static void shape(struct pattern *pattern, const struct extent *extent, int64_t rank)
{
    for (int64_t d = 0; d < rank && d < PATTERN_DIMENSIONS; d++) {
        pattern->words[1 + d] = extent->count[rank - 1 - d];
        if (extent->kind == EXTENT_STRIDED)
            pattern->words[1 + PATTERN_DIMENSIONS + d] = extent->stride ? extent->stride[rank - 1 - d] : 1;
    }
}

static struct pattern pattern_of(const struct pnetcdf_var *var, int nc, const struct extent *extent)
{
    struct pattern pattern = {0};
    int64_t rank = var->ints[PNETCDF_VAR_NDIMS], elements = 1;
    if (extent->kind == EXTENT_TYPE) {
        pattern.words[0] = type_bytes(extent->type);
        return pattern;
    }
    if (extent->kind == EXTENT_ALL)
        elements = whole(var, nc);
    else if (extent->kind == EXTENT_PIECES)
        elements = in_pieces(extent, rank);
    else if (extent->kind != EXTENT_ONE && extent->count) {
        elements = product(extent->count, rank);
        shape(&pattern, extent, rank);
    }
    pattern.words[0] = elements * var->ints[PNETCDF_VAR_DATATYPE_SIZE];
    return pattern;
}

static bool writes(enum pnetcdf_var_int mode)
{
    return mode == PNETCDF_VAR_INDEP_WRITES || mode == PNETCDF_VAR_COLL_WRITES ||
           mode == PNETCDF_VAR_NB_WRITES;
}

static void moved(struct pnetcdf_var *state, enum pnetcdf_var_int form, enum pnetcdf_var_int mode,
                  const struct pattern *pattern, struct span span)
{
    spin_lock(&state->dataset.lock);
    state->ints[form]++;
    state->ints[mode]++;
    dataset_moved(&state->dataset, &AT, state->ints, state->doubles, writes(mode), pattern, span);
    spin_unlock(&state->dataset.lock);
}

void pnetcdf_on_access(const struct call *c, int nc, int var, enum pnetcdf_var_int form,
                       enum pnetcdf_var_int mode, struct extent extent)
{
    struct pnetcdf_var *state = ids_find(&iolens_variables, key_of(nc, var));
    if (!state)
        return;
    struct pattern pattern = pattern_of(state, nc, &extent);
    moved(state, form, mode, &pattern, (struct span){c->t0, c->t1});
}

/* Returns the state of the variable at place `at` of a call on several variables; NULL if unknown. */
static struct pnetcdf_var *one_of(int nc, const struct several *several, int at, struct pattern *pattern)
{
    struct pnetcdf_var *state = ids_find(&iolens_variables, key_of(nc, several->var[at]));
    struct extent extent = extent_of(several, at);
    *pattern = state ? pattern_of(state, nc, &extent) : (struct pattern){0};
    return state;
}

void pnetcdf_on_accesses(const struct call *c, int nc, struct several several, enum pnetcdf_var_int form,
                         enum pnetcdf_var_int mode)
{
    struct pattern pattern;
    int64_t all = 0, before = 0;
    for (int i = 0; i < several.many; i++) {
        one_of(nc, &several, i, &pattern);
        all += pattern.words[0];
    }
    double per_byte = all > 0 ? (c->t1 - c->t0) / (double)all : 0;
    for (int i = 0; i < several.many; i++) {
        struct pnetcdf_var *state = one_of(nc, &several, i, &pattern);
        int64_t after = before + pattern.words[0];
        if (state)
            moved(state, form, mode, &pattern,
                  (struct span){c->t0 + per_byte * (double)before, c->t0 + per_byte * (double)after});
        before = after;
    }
}

/* Ends the recording of a file's variables when the file is closed: PnetCDF has no call that closes a
 * variable, so its closing time is the file's. */
void pnetcdf_close_variables(const struct call *c, int nc)
{
    struct pnetcdf_var *var;
    while ((var = ids_take_between(&iolens_variables, key_of(nc, 0), key_of(nc, -1)))) {
        spin_lock(&var->dataset.lock);
        dataset_closed(&var->dataset, &AT, var->doubles, (struct span){c->t1, c->t1});
        spin_unlock(&var->dataset.lock);
    }
}

static bool pnetcdf_var_validate(const void *state, const struct area *area)
{
    const struct patterns *patterns = &((const struct pnetcdf_var *)state)->dataset.patterns;
    (void)area;
    return patterns->used >= 0 && patterns->used <= PATTERNS_KEPT;
}

static void pnetcdf_var_keep(const void *state, int list, struct kept_values *kept)
{
    (void)list;
    patterns_keep(&((const struct pnetcdf_var *)state)->dataset.patterns, kept);
}

static void pnetcdf_var_finish(const void *state, void *record)
{
    const struct pnetcdf_var *s = state;
    patterns_top(&s->dataset.patterns, shape_ints(record) + PNETCDF_VAR_ACCESS1_ACCESS);
}

#define COUNTERS "profiler/src/modules/pnetcdf/pnetcdf_var_counters.def"
#include "../merge_tables.h"

static const struct record_shape SHAPE = {
    .ints = PNETCDF_VAR_INTS,
    .doubles = PNETCDF_VAR_DOUBLES,
    .int_merge = INT_MERGE,
    .double_merge = DOUBLE_MERGE,
    .top = {SHAPE_NONE, SHAPE_NONE},
    .longest = {{PNETCDF_VAR_F_MAX_READ_TIME, PNETCDF_VAR_MAX_READ_TIME_SIZE},
                {PNETCDF_VAR_F_MAX_WRITE_TIME, PNETCDF_VAR_MAX_WRITE_TIME_SIZE}},
    .patterns = PNETCDF_VAR_ACCESS1_ACCESS,
    .fastest = PNETCDF_VAR_FASTEST_RANK,
    .fastest_seconds = PNETCDF_VAR_F_FASTEST_RANK_TIME,
    .seconds = {PNETCDF_VAR_F_READ_TIME, PNETCDF_VAR_F_WRITE_TIME, PNETCDF_VAR_F_META_TIME},
    .bytes = {PNETCDF_VAR_BYTES_READ, PNETCDF_VAR_BYTES_WRITTEN},
};

_Static_assert(offsetof(struct pnetcdf_var, dataset) == 1120,
               "the record in struct pnetcdf_var must have 1120 bytes, as Darshan's version 1");

static void pnetcdf_var_reset(void) { iolens_variables = (struct ids){.lock.held = ATOMIC_FLAG_INIT}; }

const struct module module_PNETCDF_VAR = {
    .id = 6,
    .version = 1,
    .name = "PNETCDF_VAR",
    .state_bytes = sizeof(struct pnetcdf_var),
    .shape = &SHAPE,
    .reset = pnetcdf_var_reset,
    .validate = pnetcdf_var_validate,
    .finish = pnetcdf_var_finish,
    .keep = pnetcdf_var_keep,
};
