/* A substitute for LLVM's OpenMP library in a test: the functions that programs of GCC call consist of calls
 * of the library's own functions. One thread does both parts of the work; a task waits until the barrier. */
#include <stdbool.h>

static void (*task)(void *);
static int single;

void __kmpc_barrier(void *place, int thread);
void __kmpc_critical(void *place, int thread, void *name);

void __kmpc_barrier(void *place, int thread)
{
    void (*waiting)(void *) = task;
    (void)place, (void)thread;
    task = 0;
    if (waiting)
        waiting(0);
}

void __kmpc_critical(void *place, int thread, void *name) { (void)place, (void)thread, (void)name; }

void GOMP_parallel(void (*part)(void *), void *data, unsigned threads, unsigned flags)
{
    (void)flags;
    single = 0;
    for (unsigned i = 0; i < threads; i++)
        part(data);
}

void GOMP_task(void (*function)(void *), void *data, void *copy, long bytes, long alignment, bool later)
{
    (void)data, (void)copy, (void)bytes, (void)alignment, (void)later;
    task = function;
}

bool GOMP_single_start(void) { return single++ == 0; }
void GOMP_barrier(void) { __kmpc_barrier(0, 0); }
void GOMP_critical_start(void) { __kmpc_critical(0, 0, 0); }
void GOMP_critical_end(void) {}
