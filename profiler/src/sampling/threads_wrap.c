/* Threads that the program starts: the time of each is recorded, and each gets a timer of its own where the
 * program is sampled. */
#include <pthread.h>
#include <stdbool.h>
#include <threads.h>

#include "../runtime/wrap.h"
#include "../system/float_state.h"
#include "sampling.h"
#include "threads.h"

static int (*real_pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static int (*real_thrd_create)(thrd_t *, thrd_start_t, void *);

struct beginning {
    struct beginning *next; /* The next entry in the list of unused entries. */
    union {
        void *(*posix)(void *);
        thrd_start_t c11;
    } function;
    void *argument;
    bool recorded; /* False for helper threads of MPI's library, which MPI_Init starts. */
};

static struct {
    struct spin lock;
    struct beginning *first;
} iolens_unused_beginnings = {.lock.held = ATOMIC_FLAG_INIT};

/* Returns the recorder's own memory for the facts with which a thread begins; malloc may be a traced
 * function. */
static struct beginning *take_memory(void)
{
    spin_hold(&iolens_unused_beginnings.lock);
    struct beginning *memory = iolens_unused_beginnings.first;
    if (memory)
        iolens_unused_beginnings.first = memory->next;
    spin_unlock(&iolens_unused_beginnings.lock);
    return memory ? memory : arena_alloc(&iolens.scratch, sizeof *memory);
}

static void give_back(struct beginning *memory)
{
    if (!memory)
        return;
    spin_hold(&iolens_unused_beginnings.lock);
    memory->next = iolens_unused_beginnings.first;
    iolens_unused_beginnings.first = memory;
    spin_unlock(&iolens_unused_beginnings.lock);
}

static void enter(bool recorded)
{
    struct float_state state = float_hold();
    if (recorded)
        lives_begin();
    sampling_enter();
    float_release(&state);
}

static struct beginning taken(void *memory)
{
    struct beginning beginning = *(struct beginning *)memory;
    give_back(memory);
    if (iolens_active())
        RECORDER(enter(beginning.recorded));
    return beginning;
}

static void *begin_posix(void *memory)
{
    struct beginning beginning = taken(memory);
    return beginning.function.posix(beginning.argument);
}

static int begin_c11(void *memory)
{
    struct beginning beginning = taken(memory);
    return beginning.function.c11(beginning.argument);
}

/* Copies the facts with which a new thread begins. If allocation fails, returns NULL, and the thread runs
 * without being recorded or sampled. */
static struct beginning *keep(struct beginning beginning)
{
    struct beginning *memory = beginning.recorded || sampling_signal() ? take_memory() : NULL;
    if (memory)
        *memory = beginning;
    return memory;
}

IOLENS_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                                 void *(*function)(void *), void *argument)
{
    struct beginning *memory = keep(
        (struct beginning){.function.posix = function, .argument = argument, .recorded = lives_wanted()});
    int error =
        REAL(pthread_create)(thread, attributes, memory ? begin_posix : function, memory ? memory : argument);
    if (error == 0)
        sampling_thread_started();
    else
        give_back(memory);
    return error;
}

IOLENS_EXPORT int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
    struct beginning *memory =
        keep((struct beginning){.function.c11 = function, .argument = argument, .recorded = lives_wanted()});
    int result = REAL(thrd_create)(thread, memory ? begin_c11 : function, memory ? memory : argument);
    if (result == thrd_success)
        sampling_thread_started();
    else
        give_back(memory);
    return result;
}
