/* Starts the process's performance counters when the process begins, and again in a child of fork. */
#include <pthread.h>

#include "../../runtime/wrap.h"
#include "process_counters.h"

static void start_in_child(void)
{
    if (iolens_active())
        RECORDER(counters_start());
}

__attribute__((constructor)) static void start(void)
{
    if (!iolens_active())
        return;
    RECORDER(counters_start());
    pthread_atfork(NULL, NULL, start_in_child);
}
