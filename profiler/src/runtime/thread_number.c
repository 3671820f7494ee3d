#include "thread_number.h"

#include <stdatomic.h>
#include <unistd.h>

#include "../system/system_call.h"

static atomic_uint iolens_threads_numbered;
/* The thread's number plus 1; 0 before the thread has a number. */
static __thread uint32_t number_and_one __attribute__((tls_model("initial-exec")));

uint32_t thread_number(void)
{
    if (!number_and_one)
        number_and_one = system_call(SYS_gettid) == system_call(SYS_getpid)
                             ? 1
                             : atomic_fetch_add(&iolens_threads_numbered, 1) + 2;
    return number_and_one - 1;
}

void thread_number_reset(void)
{
    iolens_threads_numbered = 0;
    number_and_one = 0;
}
