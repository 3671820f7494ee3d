/* malloc and its kin. While the C library's own functions are looked for, which may need memory, a few bytes
 * are given from here, and never taken back. */
#include "forward.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

enum { FIRST_BYTES = 1 << 16, GRAIN = 16 };

static _Alignas(GRAIN) char first[FIRST_BYTES];
static atomic_size_t first_used;

static void *give(size_t bytes)
{
    size_t rounded = (bytes + GRAIN - 1) / GRAIN * GRAIN, at = atomic_fetch_add(&first_used, rounded);
    return bytes <= FIRST_BYTES && at + rounded <= FIRST_BYTES ? first + at : NULL;
}

static bool is_first(const void *memory)
{
    return (const char *)memory >= first && (const char *)memory < first + FIRST_BYTES;
}

#define EXPORT __attribute__((visibility("default")))

#define ALLOCATES(name, parameters, arguments, bytes, otherwise)                                             \
    static struct traced_function traced_##name = {.symbol = #name};                                         \
    EXPORT void *trace_##name parameters __asm__(#name);                                                     \
    void *trace_##name parameters                                                                            \
    {                                                                                                        \
        void *(*real)parameters = (void *(*)parameters)trace_real(&traced_##name, NULL);                     \
        struct traced_call call;                                                                             \
        if (!real)                                                                                           \
            return otherwise;                                                                                \
        if (!trace_enter(&traced_##name, &call))                                                             \
            return real arguments;                                                                           \
        void *memory = real arguments;                                                                       \
        trace_leave(&traced_##name, &call, memory ? (int64_t)(bytes) : 0);                                   \
        return memory;                                                                                       \
    }

ALLOCATES(malloc, (size_t size), (size), size, give(size))
ALLOCATES(calloc, (size_t count, size_t size), (count, size), count *size, give(count *size))
ALLOCATES(aligned_alloc, (size_t alignment, size_t size), (alignment, size), size, NULL)
ALLOCATES(memalign, (size_t alignment, size_t size), (alignment, size), size, NULL)
ALLOCATES(valloc, (size_t size), (size), size, NULL)

static struct traced_function traced_realloc = {.symbol = "realloc"}, traced_free = {.symbol = "free"},
                              traced_posix_memalign = {.symbol = "posix_memalign"};

static void *moved(void *memory, size_t size)
{
    size_t left = (size_t)(first + FIRST_BYTES - (char *)memory);
    void *(*real)(size_t) = (void *(*)(size_t))trace_real(&traced_malloc, NULL);
    void *copy = real ? real(size) : give(size);
    return copy ? memcpy(copy, memory, size < left ? size : left) : NULL;
}

EXPORT void *trace_realloc(void *memory, size_t size) __asm__("realloc");
void *trace_realloc(void *memory, size_t size)
{
    void *(*real)(void *, size_t) = (void *(*)(void *, size_t))trace_real(&traced_realloc, NULL);
    struct traced_call call;
    if (is_first(memory) || !real)
        return is_first(memory) ? moved(memory, size) : memory ? NULL : give(size);
    if (!trace_enter(&traced_realloc, &call))
        return real(memory, size);
    void *got = real(memory, size);
    trace_leave(&traced_realloc, &call, got ? (int64_t)size : 0);
    return got;
}

EXPORT void trace_free(void *memory) __asm__("free");
void trace_free(void *memory)
{
    void (*real)(void *) = (void (*)(void *))trace_real(&traced_free, NULL);
    struct traced_call call;
    if (is_first(memory) || !real)
        return;
    if (!memory || !trace_enter(&traced_free, &call)) {
        real(memory);
        return;
    }
    real(memory);
    trace_leave(&traced_free, &call, 0);
}

EXPORT int trace_posix_memalign(void **place, size_t alignment, size_t size) __asm__("posix_memalign");
int trace_posix_memalign(void **place, size_t alignment, size_t size)
{
    int (*real)(void **, size_t, size_t) =
        (int (*)(void **, size_t, size_t))trace_real(&traced_posix_memalign, NULL);
    struct traced_call call;
    if (!real)
        return ENOMEM;
    if (!trace_enter(&traced_posix_memalign, &call))
        return real(place, alignment, size);
    int error = real(place, alignment, size);
    trace_leave(&traced_posix_memalign, &call, error ? 0 : (int64_t)size);
    return error;
}

/* Runs before the program has threads. */
__attribute__((constructor)) static void resolve(void)
{
    struct traced_function *const all[] = {&traced_malloc, &traced_calloc,        &traced_realloc,
                                           &traced_free,   &traced_aligned_alloc, &traced_posix_memalign};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        trace_real(all[i], NULL);
}
