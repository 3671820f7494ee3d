#include "../callers/call_nodes.h"
#include "../runtime/context.h"
#include "../tables/process_table.h"
#include "../unwind/mapped_objects.h"
#include "../unwind/unwind.h"
#include "threads.h"

enum { MOST_ROWS = 65536 };

static const struct sample_key other_key = {.thread = UINT32_MAX, .node = CALL_NODE_OTHER, .blocked = 1};

const struct keyed_shape sample_shape = {.key_bytes = sizeof(struct sample_key),
                                         .value_bytes = sizeof(struct sample_count),
                                         .most = MOST_ROWS,
                                         .other = &other_key,
                                         .in_handlers = true};

/* Returns true if the kernel ended a system call to deliver the signal. The program counter is then at the
 * instruction of the call, which will be repeated, or behind it with EINTR as the result. */
static bool in_a_wait(const ucontext_t *context)
{
#if defined(__x86_64__)
    static const uint8_t call[] = {0x0f, 0x05};
    struct unwind_object object;
    uintptr_t at = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    if (!unwind_object_at(at, &object) || at - object.begin < sizeof call || object.end - at < sizeof call)
        return false;
    bool ended = memcmp((const char *)at - sizeof call, call, sizeof call) == 0;
    return memcmp((const char *)at, call, sizeof call) == 0 ||
           (ended && context->uc_mcontext.gregs[REG_RAX] == -EINTR);
#else
    (void)context;
    return false;
#endif
}

/* Returns the number of innermost frames to leave out after a wait. These are the frames of the functions
 * that let the signal through; the next frame of this library stands for the call that waited. */
static size_t skip_release(const uintptr_t *frames, size_t count)
{
    struct unwind_object own, object;
    size_t first = 0;
    if (!unwind_object_at((uintptr_t)sample_take, &own))
        return 0;
    while (first < count && !(unwind_object_at(frames[first], &object) && object.begin == own.begin))
        first++;
    return first < count ? first : 0;
}

/* Returns the call-chain node of these frames, without the first `skipped` ones. Nodes are made from the
 * outermost frame inwards. */
static uint32_t chain(const uintptr_t *frames, size_t count, size_t skipped, bool running)
{
    uint32_t node = CALL_NODE_NONE;
    for (size_t i = count; i-- > skipped;)
        node = call_node(node, frames[i], running && i == 0);
    return node;
}

static struct sample_count *count_of(const struct sample_key *key)
{
    struct keyed *samples = table_state_known(TABLE_samples);
    struct keyed_row *row = samples ? keyed_find(samples, &sample_shape, key) : NULL;
    return row ? keyed_value(row, &sample_shape) : NULL;
}

static void count(struct sampled_thread *thread, const struct sample_key *key, int64_t weight)
{
    struct sample_count *value = count_of(key);
    if (!value)
        return;
    atomic_fetch_add_explicit(&value->count, weight, memory_order_relaxed);
    thread->samples += weight;
}

/* Adds the processor time since the last call of this function to the place, as that of a running thread.
 * A thread that is interrupted outside system calls is at a place where it computes, even if it just
 * waited for a core. */
static void count_on_core(struct sampled_thread *thread, struct sample_key key)
{
    key.blocked = 0;
    struct sample_count *value = count_of(&key);
    int64_t now = thread_on_core_ns();
    if (value)
        atomic_fetch_add_explicit(&value->on_core_ns, now - thread->on_core_ns, memory_order_relaxed);
    thread->on_core_ns = now;
}

void sample_take(struct sampling *sampling, struct sampled_thread *thread, const ucontext_t *context,
                 int64_t weight)
{
    double begin = clock_now(&iolens.clock);
    uintptr_t frames[SAMPLED_FRAMES];
    if (iolens_paused()) {
        thread->paused += weight;
        thread->on_core_ns = thread_on_core_ns();
        thread->last = sampling->by_processor ? thread_now(sampling, thread) : begin;
        return;
    }
    struct unwound found = unwind_context(context, thread->stack, frames, SAMPLED_FRAMES);
    bool waits = thread->released || in_a_wait(context);
    size_t skipped = thread->released ? skip_release(frames, found.count) : 0;
    struct sample_key key = {.thread = (uint32_t)(thread - sampling->thread),
                             .region = iolens_region,
                             .node = chain(frames, found.count, skipped, true),
                             .blocked = waits || weight > 1};
    count(thread, &key, weight);
    if (!waits)
        count_on_core(thread, key);
    const struct sample_time entry = {begin, key.thread, key.node, (uint32_t)weight, key.blocked};
    sample_times_keep(table_state_known(TABLE_sample_times), &entry);
    thread->stacks++;
    thread->cut += !found.whole;
    thread->last = sampling->by_processor ? thread_now(sampling, thread) : begin;
    thread->handler_time += clock_now(&iolens.clock) - begin;
}

void sample_unfinished(struct sampling *sampling, struct sampled_thread *thread)
{
    static const struct stack_span none = {UINTPTR_MAX, UINTPTR_MAX};
    uintptr_t frames[SAMPLED_FRAMES];
    struct sampled_wait wait = thread->wait;
    int64_t weight = (int64_t)(thread->earlier * sampling->hz) - thread->samples - thread->paused;
    if (wait.frame == 0 || weight <= 0 || iolens_paused() || sampling->by_processor)
        return;
    frames[0] = wait.function;
    struct unwound found = unwind_callers(wait.caller, wait.frame, none, frames + 1, SAMPLED_FRAMES - 1);
    atomic_thread_fence(memory_order_seq_cst);
    if (thread->wait.frame != wait.frame)
        return;
    struct sample_key key = {.thread = (uint32_t)(thread - sampling->thread),
                             .node = chain(frames, found.count + 1, 0, true),
                             .blocked = true};
    count(thread, &key, weight);
}

int64_t sample_times_in(const struct sample_times_chunk *chunk)
{
    int64_t used = chunk->used;
    return used < TIMES_PER_CHUNK ? used : TIMES_PER_CHUNK;
}

/* Adds a chunk behind the `full` one and returns it. If two threads add a chunk at once, one chunk stays
 * unused. */
static struct sample_times_chunk *add_chunk(struct sample_times *times, struct sample_times_chunk *full)
{
    struct sample_times_chunk *fresh = arena_try_alloc(&iolens.arena, sizeof *fresh);
    if (!fresh)
        return NULL;
    fresh->older = full;
    return atomic_compare_exchange_strong(&times->newest, &full, fresh) ? fresh : full;
}

void sample_times_keep(struct sample_times *times, const struct sample_time *entry)
{
    if (!times)
        return;
    if (atomic_fetch_add(&times->kept, 1) >= times->most) {
        times->left_out++;
        return;
    }
    struct sample_times_chunk *chunk = times->newest;
    while (chunk || (chunk = add_chunk(times, NULL))) {
        int64_t at = atomic_fetch_add(&chunk->used, 1);
        if (at < TIMES_PER_CHUNK) {
            chunk->entry[at] = *entry;
            return;
        }
        chunk = add_chunk(times, chunk);
        if (!chunk)
            break;
    }
    times->left_out++;
}
