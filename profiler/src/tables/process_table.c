#include "process_table.h"

#include "../files/registry.h"
#include "../runtime/context.h"
#include "../spool/spool.h"
#include "keyed.h"

enum { DEFAULT_ROWS = 1000000, MOST_SUMS = 64 };

_Static_assert((int)TABLE_COUNT <= (int)SPOOL_TABLES, "SPOOL_TABLES must have room for every table");

static struct {
    _Atomic(void *) state[TABLE_COUNT];
    /* Array by table: number of rows or entries that all ranks left out, added up from the member
       `left_out_at` of their states. */
    int64_t left_out[TABLE_COUNT];
} iolens_tables;

/* The state that a table keeps for one file. */
struct file_entry {
    struct file_entry *next;
    int64_t table;
    char state[];
};

void *table_state_known(enum process_table_index table) { return iolens_tables.state[table]; }

/* Returns the state of a table, and makes it if there is none; NULL without memory. If two threads make the
 * state at once, one discards its own. The spool may be read at any moment, so the state is cleared before it
 * is linked into the table. */
void *table_state(enum process_table_index table)
{
    void *state = iolens_tables.state[table];
    void *fresh = state ? NULL : arena_alloc(&iolens.arena, process_tables[table]->recording.state_bytes);
    if (state || !fresh)
        return state;
    if (!atomic_compare_exchange_strong(&iolens_tables.state[table], &state, fresh))
        return state;
    if (iolens_spool.header)
        iolens_spool.header->tables[table] = fresh;
    return fresh;
}

static struct file_entry *find_entry(const struct file *file, enum process_table_index table)
{
    struct file_entry *entry = file->tables;
    while (entry && entry->table != (int64_t)table)
        entry = entry->next;
    return entry;
}

void *table_file_state_known(enum process_table_index table, const struct file *file)
{
    struct file_entry *entry = find_entry(file, table);
    return entry ? entry->state : NULL;
}

void *table_file_state(enum process_table_index table, struct file *file)
{
    struct file_entry *entry = find_entry(file, table);
    if (entry)
        return entry->state;
    struct file_entry *fresh =
        arena_alloc(&iolens.arena, sizeof *fresh + process_tables[table]->recording.file_bytes);
    if (!fresh)
        return NULL;
    void *before = file->tables;
    fresh->table = table;
    do {
        if ((entry = find_entry(file, table)))
            return entry->state;
        fresh->next = before;
    } while (!atomic_compare_exchange_weak(&file->tables, &before, fresh));
    return fresh->state;
}

void tables_start(void)
{
    for (int t = 0; t < TABLE_COUNT; t++)
        if (process_tables[t]->recording.start)
            process_tables[t]->recording.start();
}

void tables_begin(void)
{
    for (int t = 0; t < TABLE_COUNT; t++)
        if (process_tables[t]->recording.begin)
            process_tables[t]->recording.begin();
}

void tables_initialize(bool begins)
{
    for (int t = 0; t < TABLE_COUNT; t++)
        if (process_tables[t]->recording.initialize)
            process_tables[t]->recording.initialize(begins);
}

void tables_end(void)
{
    for (int t = 0; t < TABLE_COUNT; t++)
        if (process_tables[t]->recording.end)
            process_tables[t]->recording.end();
}

void tables_beat(void)
{
    for (int t = 0; t < TABLE_COUNT; t++) {
        void *state = process_tables[t]->recording.beat ? table_state(t) : NULL;
        if (state)
            process_tables[t]->recording.beat(state);
    }
}

void tables_reset(void)
{
    for (int t = 0; t < TABLE_COUNT; t++) {
        iolens_tables.state[t] = NULL;
        if (process_tables[t]->recording.reset)
            process_tables[t]->recording.reset();
    }
}

bool tables_matter(void)
{
    for (int t = 0; t < TABLE_COUNT; t++) {
        const struct table_recording *recording = &process_tables[t]->recording;
        if ((recording->matters_if_used && iolens_tables.state[t]) ||
            (recording->matters && recording->matters()))
            return true;
    }
    return false;
}

/* Returns false if the state points outside the spool. */
static bool validate(const struct process_table *type, void *state, const struct area *area)
{
    if (type->recording.keyed)
        keyed_validate(state, type->recording.keyed, area, type->recording.sound);
    return !type->recording.validate || type->recording.validate(state, area);
}

double tables_load(const struct spool_header *header, const struct area *area)
{
    double latest = 0;
    for (int t = 0; t < TABLE_COUNT; t++) {
        const struct process_table *type = process_tables[t];
        void *state = header->tables[t];
        bool whole = state && type->recording.state_bytes > 0 &&
                     area_holds(area, state, type->recording.state_bytes, 1) && validate(type, state, area);
        iolens_tables.state[t] = whole ? state : NULL;
        double known = whole && type->recording.latest ? type->recording.latest(state) : 0;
        if (latest < known)
            latest = known;
    }
    return latest;
}

/* Checks the list of a file's states in process tables, which was read from a spool, and cuts it at the first
 * damaged entry. No entry is taken twice, so that a damaged list cannot be endless. */
void tables_load_file(struct file *file, const struct area *area)
{
    struct file_entry *last = NULL;
    for (struct file_entry *entry = file->tables; entry; last = entry, entry = entry->next) {
        bool whole = area_holds(area, entry, sizeof *entry, 1) && entry->table >= 0 &&
                     entry->table < TABLE_COUNT && process_tables[entry->table]->recording.file_bytes > 0 &&
                     area_holds(area, entry->state, process_tables[entry->table]->recording.file_bytes, 1);
        if (whole)
            continue;
        if (last)
            last->next = NULL;
        else
            file->tables = NULL;
        return;
    }
}

int64_t tables_most_rows(bool speaks)
{
    int64_t rows = DEFAULT_ROWS;
    if (!settings_number(iolens.settings.file_ranks, 1, INT64_MAX, &rows) && speaks)
        iolens_say("IOLENS_FILE_RANKS=%s is not a positive number of rows, so the default %d is used",
                   iolens.settings.file_ranks, DEFAULT_ROWS);
    return rows;
}

/* Numbers that all ranks add up before tables are collected. */
struct numbers {
    int64_t used[TABLE_COUNT], most[TABLE_COUNT], left_out[TABLE_COUNT];
    int64_t sums[MOST_SUMS]; /* Sums of all tables that have any, one table after another. */
};

static bool have_room_for_sums(void)
{
    size_t sums = 0;
    for (int t = 0; t < TABLE_COUNT; t++)
        sums += process_tables[t]->merging.sum_count;
    return sums <= MOST_SUMS;
}

static int64_t most_rows(enum process_table_index table)
{
    const struct process_table *type = process_tables[table];
    if (type->merging.most_rows)
        return type->merging.most_rows();
    return type->recording.keyed ? keyed_made(table_state_known(table)) : 0;
}

static bool is_used(enum process_table_index table)
{
    const struct process_table *type = process_tables[table];
    bool has_state = type->recording.state_bytes > 0;
    return !type->merging.on_demand || iolens_tables.state[has_state ? table : type->merging.state_of];
}

static int64_t left_out(enum process_table_index table)
{
    const char *state = process_tables[table]->remarks.left_out_text ? table_state_known(table) : NULL;
    return state ? *(const int64_t *)(state + process_tables[table]->remarks.left_out_at) : 0;
}

const char *table_left_out(enum process_table_index table)
{
    const struct table_remarks *remarks = &process_tables[table]->remarks;
    if (iolens_tables.left_out[table] > 0)
        return remarks->left_out_text;
    return remarks->left_out ? remarks->left_out() : NULL;
}

static void count_own(struct numbers *numbers, int rank)
{
    int64_t *at = numbers->sums;
    for (int t = 0; t < TABLE_COUNT; t++) {
        const struct process_table *type = process_tables[t];
        if (type->merging.count)
            type->merging.count(rank);
        for (size_t i = 0; i < type->merging.sum_count; i++)
            *at++ = type->merging.sums[i];
        numbers->used[t] = is_used(t);
        numbers->left_out[t] = left_out(t);
        numbers->most[t] = most_rows(t);
    }
}

static void take_sums(const struct numbers *numbers)
{
    const int64_t *at = numbers->sums;
    for (int t = 0; t < TABLE_COUNT; t++)
        for (size_t i = 0; i < process_tables[t]->merging.sum_count; i++)
            process_tables[t]->merging.sums[i] = *at++;
}

void tables_collect(const struct iolens_transport *transport, struct buffer rows[TABLE_COUNT],
                    int64_t most[TABLE_COUNT])
{
    struct numbers numbers = {0};
    bool known = have_room_for_sums();
    if (known)
        count_own(&numbers, transport->rank);
    known = known &&
            transport->allreduce(&numbers, sizeof numbers / sizeof(int64_t), IOLENS_INT64, IOLENS_SUM) == 0;
    if (known)
        take_sums(&numbers);
    memcpy(most, numbers.most, sizeof numbers.most);
    memcpy(iolens_tables.left_out, numbers.left_out, sizeof numbers.left_out);
    for (int t = 0; t < TABLE_COUNT; t++) {
        rows[t].failed = !known;
        if (known && process_tables[t]->merging.collect && numbers.used[t] > 0)
            process_tables[t]->merging.collect(transport, &rows[t]);
    }
}

void table_put(enum process_table_index table, const struct iolens_transport *transport,
               const struct buffer *rows, struct buffer *out)
{
    const struct process_table *type = process_tables[table];
    if (type->merging.write) {
        type->merging.write(transport, out);
        return;
    }
    out->failed |= rows->failed;
    table_write(out, (struct table_writers){transport->rank, transport->size}, type->columns,
                type->column_count, rows->data, type->row_bytes, rows->used / type->row_bytes);
}

const char *column_merge_name(enum column_merge merge)
{
    static const char *const NAMES[] = {
        [COLUMN_KEY] = "key",         [COLUMN_RANK] = "rank",         [COLUMN_SUM] = "sum",
        [COLUMN_LARGEST] = "largest", [COLUMN_SMALLEST] = "smallest", [COLUMN_EARLIEST] = "earliest"};
    return NAMES[merge];
}

const char *column_text_name(enum column_text text)
{
    static const char *const NAMES[] = {[TEXT_NAME] = "name", [TEXT_WORD] = "word"};
    return NAMES[text];
}

/* Copies the text instead of formatting it, which takes ten times as long: a log has hundreds of members. */
static void put_member(struct buffer *out, const char *key, const char *value)
{
    buffer_text(out, key);
    buffer_text(out, value);
    buffer_text(out, "\"");
}

static void name_column(struct buffer *out, const struct column *column)
{
    const char *merge = column_merge_name(column->merge), *text = column_text_name(column->text);
    put_member(out, "{\"name\": \"", column->name);
    put_member(out, ", \"dtype\": \"", column->dtype);
    put_member(out, ", \"unit\": \"", column->unit);
    buffer_text(out, ", \"meaning\": ");
    buffer_json(out, column->meaning);
    if (merge)
        put_member(out, ", \"merge\": \"", merge);
    if (text)
        put_member(out, ", \"text\": \"", text);
    buffer_text(out, "}");
}

static void name_columns(struct buffer *out, const struct column *columns, size_t count)
{
    buffer_text(out, ", \"columns\": [");
    for (size_t i = 0; i < count; i++) {
        buffer_text(out, i ? ", " : "");
        name_column(out, &columns[i]);
    }
    buffer_text(out, "]");
}

void table_write(struct buffer *out, struct table_writers writers, const struct column *columns, size_t count,
                 const void *rows, size_t row_bytes, size_t row_count)
{
    bool leads = writers.rank == 0;
    if (row_count == 0 && !(leads && writers.size > 1))
        return;
    buffer_format(out, "{\"rows\": %zu", row_count);
    if (leads)
        name_columns(out, columns, count);
    const size_t item = sizeof(uint64_t), filled = (out->used + 2) % item;
    buffer_format(out, "}%*s\n", filled ? (int)(item - filled) : 0,
                  ""); /* Spaces after the header align the columns. */
    for (size_t i = 0; i < count; i++)
        for (size_t row = 0; row < row_count; row++)
            buffer_put(out, (const char *)rows + row * row_bytes + columns[i].offset, columns[i].bytes);
}
