#include <pthread.h>
#include <sys/resource.h>

#include "../../runtime/context.h"
#include "../../runtime/thread_room.h"
#include "process_counters.h"

struct thread_counters {
    /* The next entry in the list of counters of ended threads, which later threads reuse. */
    struct thread_counters *next;
    bool ends; /* True once thread_ends was called for this thread; at its second call the counters are
                  closed. */
    struct counter_set set;
};

static __thread struct thread_counters *of_thread;

static struct {
    pthread_once_t once;
    pthread_key_t key;
    bool has_key; /* False if the program has used up all keys of thread-local data. */
    struct spin lock;
    struct thread_counters *free;
} iolens_thread_counters = {.once = PTHREAD_ONCE_INIT};

/* Closes the counters of a thread that ends; otherwise a program that starts many threads in turn would run
 * out of descriptors. It is called a second time after all other cleanup of the thread, because regions that
 * the thread is still in read the counters once more. */
static void thread_ends(void *memory)
{
    struct thread_counters *ended = memory;
    if (!ended->ends) {
        ended->ends = pthread_setspecific(iolens_thread_counters.key, ended) == 0;
        if (ended->ends)
            return;
    }
    counter_set_close(&ended->set);
    of_thread = NULL;
    spin_lock(&iolens_thread_counters.lock);
    ended->next = iolens_thread_counters.free;
    iolens_thread_counters.free = ended;
    spin_unlock(&iolens_thread_counters.lock);
}

static void make_key(void)
{
    iolens_thread_counters.has_key = pthread_key_create(&iolens_thread_counters.key, thread_ends) == 0;
}

static struct thread_counters *take_free(void)
{
    spin_lock(&iolens_thread_counters.lock);
    struct thread_counters *taken = iolens_thread_counters.free;
    if (taken)
        iolens_thread_counters.free = taken->next;
    spin_unlock(&iolens_thread_counters.lock);
    return taken;
}

static struct thread_counters *thread_counters(const struct event_choice *choice)
{
    struct set_reasons unused;
    if (of_thread || !choice->wanted)
        return of_thread;
    pthread_once(&iolens_thread_counters.once, make_key);
    if (!iolens_thread_counters.has_key)
        return NULL;
    of_thread = take_free();
    if (!of_thread)
        of_thread = arena_alloc(&iolens.scratch, sizeof *of_thread);
    if (!of_thread)
        return NULL;
    of_thread->ends = false;
    counter_set_open(&of_thread->set, choice, false, &unused);
    pthread_setspecific(iolens_thread_counters.key, of_thread);
    return of_thread;
}

/* Reads the counters of this thread at the start of a call. The clock is read after the counters here, and
 * before the counters at the end, so that the measured time contains as little as possible of the time for
 * reading them. */
void counters_begin(struct counts *now)
{
    const struct event_choice *choice = counters_choice();
    const struct thread_counters *own = thread_counters(choice);
    *now = (struct counts){0};
    if (own)
        counter_set_read(&own->set, choice, now);
    counts_read_usage(now, RUSAGE_THREAD);
    counts_read_clock(now, CLOCK_THREAD_CPUTIME_ID);
}

void counters_end(struct counts *now)
{
    const struct event_choice *choice = counters_choice();
    const struct thread_counters *own = thread_counters(choice);
    *now = (struct counts){0};
    counts_read_clock(now, CLOCK_THREAD_CPUTIME_ID);
    counts_read_usage(now, RUSAGE_THREAD);
    if (own)
        counter_set_read(&own->set, choice, now);
}

void thread_counters_reset(void)
{
    if (of_thread)
        counter_set_close(&of_thread->set);
    of_thread = NULL;
    iolens_thread_counters.free = NULL;
    iolens_thread_counters.lock = (struct spin){ATOMIC_FLAG_INIT};
}

enum { MOST_ROWS = 16384 };

const struct keyed_shape region_counts_shape = {
    .key_bytes = sizeof(struct region_key), .value_bytes = sizeof(struct region_counts), .most = MOST_ROWS};

/* Returns the row of this thread. Threads that run one after another share a row, because the number of rows
 * is limited. Beyond SLOTS_MOST threads at a time, each further thread has a row of its own. */
static uint32_t row_of_thread(void)
{
    uint32_t slot = thread_slot();
    return slot < SLOTS_MOST - 1 ? slot : SLOTS_MOST + thread_number();
}

void *counters_enter(uint32_t region)
{
    struct counters_state *state = counters_of_regions();
    const struct region_key key = {state ? row_of_thread() : 0, region};
    struct keyed_row *row = state ? keyed_find(&state->regions, &region_counts_shape, &key) : NULL;
    struct region_counts *counted = row ? keyed_value(row, &region_counts_shape) : NULL;
    if (counted)
        counters_begin(&counted->begin);
    return counted;
}

void counters_leave(void *memory)
{
    struct region_counts *counted = memory;
    struct counts end;
    if (!counted)
        return;
    counters_end(&end);
    counts_add_between(&counted->sum, &counted->begin, &end);
}
