/* The table `heap`: by caller, which memory a process allocated, held at its high water and did not free. */
#include <link.h>
#include <stdio.h>

#include "../../callers/call_nodes.h"
#include "../../memory/area.h"
#include "../../runtime/wrap.h"
#include "../../system/spin.h"
#include "../../tables/keyed.h"
#include "../../tables/table_merge.h"
#include "heap_blocks.h"

/* MOST_CALLERS: largest number of rows. CXX_CALLERS: number of return addresses that are searched for the
 * program's own code, which calls operator new[], which calls operator new, which calls malloc. */
enum { MOST_CALLERS = 16384, CXX_CALLERS = 3, REMARK_BYTES = 256, ALL_CALLERS = -1 };

extern const struct process_table table_heap;

struct amounts {
    int64_t calls, bytes, live_blocks, live_bytes, high_bytes;
};

/* `high_bytes` of a caller are the bytes that it held at high water number `high`. They are updated only when
 * the caller's bytes change after a later high water, so that the cost of a high water does not grow with the
 * number of callers. */
struct caller {
    struct amounts amounts;
    uint64_t high; /* Number of the high water at which `high_bytes` is valid. */
};

struct heap_state {
    struct keyed callers; /* Rows by caller; their keys are call-chain nodes. */
    struct amounts amounts;
    uint64_t high; /* Number of times that the heap has reached a new high water. */
    int64_t not_followed;
    double high_time;
};

static const struct keyed_shape CALLERS = {
    .key_bytes = sizeof(uint64_t), .value_bytes = sizeof(struct caller), .most = MOST_CALLERS};

static struct spin iolens_heap_lock;

/* Code of the C++ library, whose operator new calls malloc. */
static struct {
    uintptr_t low, high;
} iolens_cxx;

static int note_cxx(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    (void)context;
    const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;
    if (strncmp(name, "libstdc++", strlen("libstdc++")) != 0 &&
        strncmp(name, "libc++", strlen("libc++")) != 0)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && part->p_flags & PF_X) {
            iolens_cxx.low = info->dlpi_addr + part->p_vaddr;
            iolens_cxx.high = iolens_cxx.low + part->p_memsz;
        }
    }
    return 1;
}

IOLENS_EXPORT void iolens_heap_start(void)
{
    dl_iterate_phdr(note_cxx, NULL);
    if (iolens_cxx.high)
        chains_start();
}

static struct caller *caller_of(struct heap_state *state, uintptr_t address)
{
    bool in_cxx = address >= iolens_cxx.low && address < iolens_cxx.high;
    uint64_t key = chain_node(address, in_cxx ? CXX_CALLERS : 1);
    struct keyed_row *row = keyed_find(&state->callers, &CALLERS, &key);
    return row ? keyed_value(row, &CALLERS) : NULL;
}

static void change(struct heap_state *state, struct caller *caller, int64_t blocks, int64_t bytes)
{
    if (caller->high != state->high) {
        caller->amounts.high_bytes = caller->amounts.live_bytes;
        caller->high = state->high;
    }
    caller->amounts.live_blocks += blocks;
    caller->amounts.live_bytes += bytes;
    state->amounts.live_blocks += blocks;
    state->amounts.live_bytes += bytes;
    if (state->amounts.live_bytes <= state->amounts.high_bytes)
        return;
    state->amounts.high_bytes = state->amounts.live_bytes;
    state->high_time = clock_now(&iolens.clock);
    state->high++;
}

/* Ends following a block. Returns its bytes, or -1 if it was not followed, and sets its owner. */
static int64_t take(struct heap_state *state, const void *memory, void **owner)
{
    struct heap_block block;
    if (!heap_blocks_take((uintptr_t)memory, &block))
        return -1;
    change(state, block.owner, -1, -block.bytes);
    *owner = block.owner;
    return block.bytes;
}

/* Counts the block as not followed if there is no room for it. */
static void follow(struct heap_state *state, const void *memory, int64_t bytes, struct caller *owner)
{
    const struct heap_block block = {(uintptr_t)memory, bytes, owner};
    if (owner && heap_blocks_add(&block))
        change(state, owner, 1, bytes);
    else
        state->not_followed++;
}

static void add(const void *memory, int64_t bytes, const void *caller)
{
    struct heap_state *state = table_state(TABLE_heap);
    struct caller *owner = state ? caller_of(state, (uintptr_t)caller) : NULL;
    void *earlier;
    if (!state)
        return;
    if (state->amounts.calls == 0)
        objects_look(); /* Looks up the loaded libraries now: if the process is killed before the spool's next
                         * update, the callers of malloc still need their names. */
    spin_lock(&iolens_heap_lock);
    take(state, memory, &earlier); /* A block that is still known at this address was freed by a call that was
                                    * not recorded. */
    follow(state, memory, bytes, owner);
    if (owner) {
        owner->amounts.calls++;
        owner->amounts.bytes += bytes;
    }
    state->amounts.calls++;
    state->amounts.bytes += bytes;
    spin_unlock(&iolens_heap_lock);
}

IOLENS_EXPORT void iolens_heap_allocated(const void *memory, int64_t bytes, const void *caller)
{
    if (iolens_active() && !iolens_paused())
        RECORDER(add(memory, bytes, caller));
}

static int64_t give_back(const void *memory, void **owner)
{
    struct heap_state *state = table_state_known(TABLE_heap);
    if (!state)
        return -1;
    spin_lock(&iolens_heap_lock);
    int64_t bytes = take(state, memory, owner);
    spin_unlock(&iolens_heap_lock);
    return bytes;
}

/* Ends following a block that is about to be freed; returns its bytes, or -1. Also works while the program
 * has switched recording off, because blocks freed meanwhile would otherwise count as never freed. */
IOLENS_EXPORT int64_t iolens_heap_freed(const void *memory, void **owner)
{
    int64_t bytes = -1;
    if (iolens_active())
        RECORDER(bytes = give_back(memory, owner));
    return bytes;
}

static void keep(const void *memory, int64_t bytes, void *owner)
{
    struct heap_state *state = table_state_known(TABLE_heap);
    spin_lock(&iolens_heap_lock);
    if (state)
        follow(state, memory, bytes, owner);
    spin_unlock(&iolens_heap_lock);
}

IOLENS_EXPORT void iolens_heap_kept(const void *memory, int64_t bytes, void *owner)
{
    if (iolens_active())
        RECORDER(keep(memory, bytes, owner));
}

/* Forgets all blocks in a child of fork, which has its parent's blocks, but not its records. */
static void reset(void)
{
    iolens_heap_lock = (struct spin){ATOMIC_FLAG_INIT};
    heap_blocks_clear();
}

struct row {
    int64_t rank, calls, bytes, live_blocks, live_bytes, high_bytes;
    double high_time;
    int32_t node, padding;
};

static const struct column COLUMNS[] = {
    MERGED(rank, "<i8", "rank", "the rank; -1: several ranks", COLUMN_RANK),
    MERGED(node, "<i4", "node",
           "the caller, a row of `call_nodes`, with the callers of operator new in C++; -1: all callers",
           COLUMN_KEY),
    MERGED(calls, "<i8", "calls", "calls that allocated memory", COLUMN_SUM),
    MERGED(bytes, "<i8", "B", "bytes that these calls asked for", COLUMN_SUM),
    MERGED(live_blocks, "<i8", "blocks", "blocks that were not freed when recording ended", COLUMN_SUM),
    MERGED(live_bytes, "<i8", "B", "bytes of these blocks", COLUMN_SUM),
    MERGED(high_bytes, "<i8", "B",
           "bytes in use when the rank's whole heap was largest. Rows of several ranks add up bytes of "
           "different moments",
           COLUMN_SUM),
    MERGED(
        high_time, "<f8", "s",
        "time at which the rank's heap was largest, since the start of the job; of several ranks, the latest",
        COLUMN_LARGEST),
};

static void put(struct buffer *rows, int rank, int32_t node, const struct amounts *amounts, double high_time)
{
    const struct row row = {.rank = rank,
                            .node = node,
                            .calls = amounts->calls,
                            .bytes = amounts->bytes,
                            .live_blocks = amounts->live_blocks,
                            .live_bytes = amounts->live_bytes,
                            .high_bytes = amounts->high_bytes,
                            .high_time = high_time * iolens.timeline.factor};
    buffer_put(rows, &row, sizeof row);
}

static int64_t iolens_heap_not_followed;
static char iolens_heap_remark[REMARK_BYTES];

static void count(int rank)
{
    const struct heap_state *state = table_state_known(TABLE_heap);
    (void)rank;
    iolens_heap_not_followed = state ? state->not_followed : 0;
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    struct heap_state *state = table_state_known(TABLE_heap);
    for (struct keyed_row *at = state ? keyed_first(&state->callers) : NULL; at; at = keyed_next(at)) {
        const struct caller *caller = keyed_value(at, &CALLERS);
        struct amounts amounts = caller->amounts;
        amounts.high_bytes = caller->high == state->high ? amounts.high_bytes : amounts.live_bytes;
        put(rows, transport->rank, call_node_written(*(const uint32_t *)keyed_key(at)), &amounts,
            state->high_time);
    }
    if (state)
        put(rows, transport->rank, ALL_CALLERS, &state->amounts, state->high_time);
    table_fold(&table_heap, rows);
    *iolens_heap_remark = '\0';
    if (iolens_heap_not_followed > 0)
        snprintf(iolens_heap_remark, REMARK_BYTES,
                 "%lld blocks of the heap were not followed, because there were too many at a time: their "
                 "bytes are missing in its high water and in what was not freed.",
                 (long long)iolens_heap_not_followed);
}

static const char *remark(void) { return *iolens_heap_remark ? iolens_heap_remark : NULL; }

enum { REST_OF_CALLERS, REST_OF_RANKS, REST_SLOTS };

static size_t rest(void *row)
{
    struct row *merged = row;
    merged->rank = -1;
    if (merged->node == ALL_CALLERS)
        return REST_OF_RANKS;
    merged->node = -2;
    return REST_OF_CALLERS;
}

static bool validate(const void *memory, const struct area *area)
{
    struct heap_state *state = (struct heap_state *)memory;
    keyed_validate(&state->callers, &CALLERS, area, NULL);
    return is_measured_time(state->high_time);
}

static double latest(const void *state) { return ((const struct heap_state *)state)->high_time; }

static int64_t most_rows(void)
{
    const struct heap_state *state = table_state_known(TABLE_heap);
    return state ? keyed_made(&state->callers) + 1 : 0;
}

const struct process_table table_heap = {
    .name = "heap",
    .meaning = "Memory that a rank allocated by malloc and related functions, in all and by caller, where "
               "the group heap is traced. Memory from mmap, and memory allocated before recording began, "
               "is not included",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct heap_state),
    .recording.validate = validate,
    .recording.latest = latest,
    .recording.reset = reset,
    .merging.on_demand = true,
    .merging.state_of = TABLE_heap,
    .merging.count = count,
    .merging.sums = &iolens_heap_not_followed,
    .merging.sum_count = 1,
    .merging.collect = collect,
    .merging.weighed_by = {"high_bytes"},
    .merging.rest = rest,
    .merging.rest_slots = REST_SLOTS,
    .merging.most_rows = most_rows,
    .remarks.remark = remark,
};
