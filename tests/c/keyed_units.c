/* Tests rows that are found by a key: finding them again, their limit, making them in threads and a signal
 * handler at once, reading them from damaged memory, and merging them. */
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include "../../profiler/src/memory/arena.c"
#include "../../profiler/src/memory/buffer.c"
#include "../../profiler/src/ranks/serial.c"
#undef bcast
#include "../../profiler/src/system/spin.c"
#include "../../profiler/src/system/system_call.c"
#include "../../profiler/src/tables/keyed.c"
#define combine combine_rows
#define choose  choose_rows
#include "../../profiler/src/tables/table_merge.c"
#include "posix_expect.h"

enum { KEYS = 2000, THREADS = 4, TURNS = 20000 };

struct context iolens;

struct key {
    uint64_t a, b;
};

static const struct key OTHER = {UINT64_MAX, 0};
static const struct keyed_shape SHAPE = {sizeof(struct key), sizeof(int64_t), 1000000, true, NULL};
static const struct keyed_shape SMALL = {sizeof(struct key), sizeof(int64_t), 10, false, &OTHER};
/* Shape of rows that no signal handler makes, so that a thread may wait for the lock when it looks a key up.
 */
static const struct keyed_shape PATIENT = {sizeof(struct key), sizeof(int64_t), 1000000, false, NULL};
static struct keyed shared;

struct row {
    int64_t rank, key, calls;
    double least, most;
};

static const struct column COLUMNS[] = {
    MERGED(rank, "<i8", "", "", COLUMN_RANK),    MERGED(key, "<i8", "", "", COLUMN_KEY),
    MERGED(calls, "<i8", "", "", COLUMN_SUM),    MERGED(least, "<f8", "", "", COLUMN_SMALLEST),
    MERGED(most, "<f8", "", "", COLUMN_LARGEST),
};

static int64_t calls_of(const void *row) { return ((const struct row *)row)->calls; }

static size_t rest(void *row)
{
    ((struct row *)row)->rank = -1;
    ((struct row *)row)->key %= 2;
    return (size_t)((struct row *)row)->key;
}

static const struct process_table TYPE = {
    .name = "test", TABLE_ROWS(COLUMNS), .merging = {.weight = calls_of, .rest = rest, .rest_slots = 2}};
static const struct process_table OTHERS = {.name = "without a limit"};
const struct process_table *const process_tables[TABLE_COUNT] = {&TYPE, [1 ... TABLE_COUNT - 1] = &OTHERS};

static int64_t *value_of(struct keyed *store, const struct keyed_shape *shape, uint64_t a, uint64_t b)
{
    struct keyed_row *row = keyed_find(store, shape, &(struct key){a, b});
    MUST(row);
    return keyed_value(row, shape);
}

static uint64_t rows_in(const struct keyed *store)
{
    uint64_t rows = 0;
    for (const struct keyed_row *row = keyed_first(store); row; row = keyed_next(row))
        rows++;
    return rows;
}

static void finds_again(void)
{
    struct keyed store = {0};
    for (uint64_t turn = 0; turn < 3; turn++)
        for (uint64_t i = 0; i < KEYS; i++)
            ++*value_of(&store, &SHAPE, i % 71, i);
    MUST(rows_in(&store) == KEYS && store.made == KEYS);
    for (uint64_t i = 0; i < KEYS; i++)
        MUST(*value_of(&store, &SHAPE, i % 71, i) == 3);
}

static void is_bounded(void)
{
    struct keyed store = {0};
    for (uint64_t i = 0; i < 100; i++)
        ++*value_of(&store, &SMALL, i, i);
    MUST(rows_in(&store) == 11 && *value_of(&store, &SMALL, OTHER.a, OTHER.b) == 90);
    struct keyed_shape none = SMALL;
    none.other = NULL;
    MUST(keyed_find(&store, &none, &(struct key){7777, 1}) == NULL);
}

/* Runs one of several threads that all make the same keys; each also adds to rows of its own. */
static void *work(void *number)
{
    for (uint64_t i = 0; i < KEYS; i++) {
        value_of(&shared, &PATIENT, i, 99);
        ++*value_of(&shared, &PATIENT, i % 1000, (uint64_t)(uintptr_t)number);
    }
    return NULL;
}

static volatile sig_atomic_t handled, found_by_handler;

static void handle(int signal)
{
    (void)signal;
    struct keyed_row *row = keyed_find(&shared, &SHAPE, &(struct key){(uint64_t)handled++ % KEYS, 1000});
    if (row)
        ++*(int64_t *)keyed_value(row, &SHAPE), found_by_handler = 1;
}

static void threads_and_a_handler(void)
{
    pthread_t thread[THREADS];
    const struct itimerval often = {{0, 200}, {0, 200}}, never = {0};
    MUST(signal(SIGALRM, handle) != SIG_ERR && setitimer(ITIMER_REAL, &often, NULL) == 0);
    for (uintptr_t i = 0; i < THREADS; i++)
        MUST(pthread_create(&thread[i], NULL, work, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++)
        MUST(pthread_join(thread[i], NULL) == 0);
    for (uint64_t i = 0; i < TURNS; i++)
        value_of(&shared, &PATIENT, i, 2000);
    while (handled < 2 || !found_by_handler) {
        value_of(&shared, &PATIENT, 0, 2000);
        for (volatile int i = 0; i < 10000; i++)
            continue;
    }
    MUST(setitimer(ITIMER_REAL, &never, NULL) == 0);
    int64_t found = 0, expected = handled < KEYS ? handled : KEYS, calls = 0;
    for (struct keyed_row *row = keyed_first(&shared); row; row = keyed_next(row)) {
        const struct key *key = keyed_key(row);
        found += key->b == 1000;
        calls += key->b < THREADS ? *(int64_t *)keyed_value(row, &SHAPE) : 0;
    }
    MUST(found <= expected && found > 0 && calls == THREADS * (int64_t)KEYS);
    MUST(rows_in(&shared) == (uint64_t)found + KEYS + THREADS * 1000 + TURNS);
}

static bool is_even(const void *key, const void *value)
{
    (void)value;
    return ((const struct key *)key)->b % 2 == 0;
}

/* Makes 40 rows and damages the pointer of the 20th in some way. */
static uint64_t rows_left(void (*damage)(struct keyed_row *row), bool (*sound)(const void *, const void *))
{
    enum { ROWS = 40, ROW = 80 };
    static _Alignas(16) char memory[ROWS * ROW];
    static unsigned char claimed[sizeof memory / 8];
    struct keyed store = {0};
    memset(claimed, 0, sizeof claimed);
    for (int i = 0; i < ROWS; i++) {
        struct keyed_row *row = (struct keyed_row *)(memory + i * ROW);
        memset(row, 0, ROW);
        memcpy(row->data, &(struct key){0, (uint64_t)i}, sizeof(struct key));
        row->older = store.newest;
        store.newest = row;
    }
    if (damage)
        damage((struct keyed_row *)(memory + 20 * ROW));
    keyed_validate(&store, &SHAPE, &(struct area){memory, memory + sizeof memory, claimed}, sound);
    return rows_in(&store);
}

static void to_nowhere(struct keyed_row *row) { row->older = (struct keyed_row *)8; }
static void to_the_stack(struct keyed_row *row)
{
    row->older = (struct keyed_row *)__builtin_frame_address(0);
}
static void to_itself(struct keyed_row *row) { row->older = row; }
static void off_the_grain(struct keyed_row *row)
{
    row->older = (struct keyed_row *)((char *)row->older + 4);
}

static void survives_damage(void)
{
    MUST(rows_left(NULL, NULL) == 40 && rows_left(NULL, is_even) == 20);
    MUST(rows_left(to_nowhere, NULL) == 20 && rows_left(to_the_stack, NULL) == 20);
    MUST(rows_left(to_itself, NULL) == 20 && rows_left(off_the_grain, NULL) == 20);
}

static void merges(void)
{
    struct buffer rows = {0};
    for (int64_t i = 0; i < 300; i++)
        buffer_put(&rows, &(struct row){0, i % 3, i, (double)i, (double)i}, sizeof(struct row));
    table_fold(&TYPE, &rows);
    const struct row *row = (const struct row *)rows.data;
    MUST(rows.used == 3 * sizeof *row);
    for (int64_t i = 0; i < 3; i++)
        MUST(row[i].key == i && row[i].calls == 100 * i + 14850 && row[i].least == (double)i &&
             row[i].most == (double)(297 + i));
    buffer_free(&rows);
}

static void keeps_the_largest(void)
{
    struct buffer rows = {0};
    for (int64_t i = 0; i < 8; i++)
        buffer_put(&rows, &(struct row){3, i, (int64_t)1 << i, 1, (double)i}, sizeof(struct row));
    struct buffer all[TABLE_COUNT] = {rows};
    int64_t at_most[TABLE_COUNT] = {8};
    tables_bound(&serial_transport, 8, at_most, all);
    MUST(!all[0].failed && all[0].used == 8 * sizeof(struct row));
    tables_bound(&serial_transport, 3, at_most, all);
    MUST(!all[0].failed && all[0].used == 5 * sizeof(struct row));
    rows = all[0];
    const struct row *row = (const struct row *)rows.data;
    MUST(row[0].key == 5 && row[2].key == 7 && row[2].rank == 3);
    MUST(row[3].rank == -1 && row[3].key == 0 && row[3].calls == 1 + 4 + 16 && row[3].most == 4);
    MUST(row[4].rank == -1 && row[4].key == 1 && row[4].calls == 2 + 8 && row[4].least == 1);
    buffer_free(&rows);
}

/* Checks that memory on cache lines of its own begins a line, and that the next such memory begins another
 * line, even at the end of a slab. */
static void lines_are_apart(void)
{
    enum { LINE_BYTES = 64 };
    for (size_t bytes = 1; bytes < 3000; bytes++) {
        arena_alloc(&iolens.arena, bytes % 50);
        uintptr_t own = (uintptr_t)arena_alloc_lines(&iolens.arena, bytes);
        uintptr_t next = (uintptr_t)arena_alloc(&iolens.arena, 1);
        MUST(own > 0 && own % LINE_BYTES == 0);
        MUST(next / LINE_BYTES > (own + bytes - 1) / LINE_BYTES || next < own);
    }
}

int main(void)
{
    arena_start(&iolens.arena, (size_t)256 << 20, NULL);
    lines_are_apart();
    finds_again();
    is_bounded();
    threads_and_a_handler();
    survives_damage();
    merges();
    keeps_the_largest();
    return 0;
}
