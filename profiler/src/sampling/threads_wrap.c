/* Threads that the program starts get a timer of their own. */
#include <pthread.h>
#include <stdlib.h>
#include <threads.h>

#include "../runtime/wrap.h"
#include "sampling.h"

static int (*real_pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static int (*real_thrd_create)(thrd_t *, thrd_start_t, void *);

struct beginning {
    union {
        void *(*posix)(void *);
        thrd_start_t c11;
    } function;
    void *argument;
};

static struct beginning taken(void *memory)
{
    struct beginning beginning = *(struct beginning *)memory;
    free(memory);
    sampling_enter();
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

/* Without memory the thread runs, and is not sampled. */
static struct beginning *keep(struct beginning beginning)
{
    struct beginning *memory = sampling_signal() ? malloc(sizeof *memory) : NULL;
    if (memory)
        *memory = beginning;
    return memory;
}

IOLENS_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                                 void *(*function)(void *), void *argument)
{
    struct beginning *memory = keep((struct beginning){.function.posix = function, .argument = argument});
    int error =
        REAL(pthread_create)(thread, attributes, memory ? begin_posix : function, memory ? memory : argument);
    if (error == 0)
        sampling_thread_started();
    else
        free(memory);
    return error;
}

IOLENS_EXPORT int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
    struct beginning *memory = keep((struct beginning){.function.c11 = function, .argument = argument});
    int result = REAL(thrd_create)(thread, memory ? begin_c11 : function, memory ? memory : argument);
    if (result == thrd_success)
        sampling_thread_started();
    else
        free(memory);
    return result;
}
