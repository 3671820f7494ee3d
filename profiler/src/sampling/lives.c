#include <pthread.h>

#include "../runtime/context.h"
#include "../system/float_state.h"
#include "../system/system_call.h"
#include "../tables/process_table.h"
#include "threads.h"

static struct {
    pthread_key_t key; /* Key whose destructor is called when a thread ends. */
    bool has_key;      /* False if the program has used up all keys of thread-local data. */
    pthread_once_t once;
    bool wanted;
} iolens_lives = {.once = PTHREAD_ONCE_INIT};

static __thread struct life *own __attribute__((tls_model("initial-exec")));

/* Notes when a thread ended and what it used. Does nothing after the end of recording, when the table has
 * been written. */
static void leave(void *life)
{
    if (life != own || !own || !atomic_load(&iolens.wiped.recording))
        return;
    struct float_state state = float_hold();
    own->usage = usage_of_thread(own->kernel_id);
    float_release(&state);
    own->end = clock_now(&iolens.clock);
    own = NULL;
}

static void make_key(void) { iolens_lives.has_key = pthread_key_create(&iolens_lives.key, leave) == 0; }

void lives_begin(void)
{
    struct lives *lives = table_state(TABLE_threads);
    int64_t number = lives ? atomic_fetch_add(&lives->started, 1) : LIVES_MOST;
    if (number >= LIVES_MOST)
        return;
    pthread_once(&iolens_lives.once, make_key);
    own = &lives->thread[number];
    own->begin = clock_now(&iolens.clock);
    own->kernel_id = (int32_t)system_call(SYS_gettid);
    if (iolens_lives.has_key)
        pthread_setspecific(iolens_lives.key, own);
}

void lives_start(void) { iolens_lives.wanted = !has_thread_sanitizer(); }

bool lives_wanted(void) { return iolens_lives.wanted && iolens_active(); }

void lives_reset(void) { own = NULL; }
