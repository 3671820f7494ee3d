#include "thread_slot.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static struct {
    atomic_bool taken[SLOTS_MOST];
    pthread_key_t key;
    bool has_key; /* False if the program has used up all keys of thread-local data. */
    pthread_once_t once;
} iolens_slots = {.once = PTHREAD_ONCE_INIT};

/* The slot number of this thread plus 1; 0 before the thread has one. */
static __thread uint32_t own __attribute__((tls_model("initial-exec")));
static __thread bool ends; /* True after the first call of give_back in this thread. */

/* Gives the number of an ending thread back when called the second time. This destructor asks to run twice,
 * because other cleanup of the thread may still use the number.
 */
static void give_back(void *number)
{
    uint32_t mine = (uint32_t)(uintptr_t)number;
    ends = !ends && pthread_setspecific(iolens_slots.key, number) == 0;
    if (ends)
        return;
    own = 0;
    atomic_store_explicit(&iolens_slots.taken[mine - 1], false, memory_order_release);
}

static void make_key(void) { iolens_slots.has_key = pthread_key_create(&iolens_slots.key, give_back) == 0; }

static void take(void)
{
    uint32_t number = 0;
    pthread_once(&iolens_slots.once, make_key);
    while (number < SLOTS_MOST - 1 && atomic_exchange(&iolens_slots.taken[number], true))
        number++;
    own = number + 1;
    if (iolens_slots.has_key)
        pthread_setspecific(iolens_slots.key, (void *)(uintptr_t)own);
}

uint32_t thread_slot(void)
{
    if (own == 0)
        take();
    return own - 1;
}
