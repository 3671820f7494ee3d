/* Wraps malloc and its relatives. Looking up the C library's functions may itself need memory; until they are
 * found, a few bytes come from a room in this file, and are never freed. */
#include <errno.h>
#include <string.h>

#include "../adapter.h"
#include "forward.h"

#define BORDER(returns, name, parameters, meaning) __attribute__((weak)) returns name parameters;
#include "../adapter.def"
#undef BORDER

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

/* Ends a call from `caller` that returned `memory`, which is NULL if the call failed. */
static void leave(const struct traced_function *function, const struct traced_call *call, const void *memory,
                  size_t bytes, const void *caller)
{
    trace_leave(function, call, memory ? (int64_t)bytes : 0);
    if (memory && iolens_heap_allocated)
        iolens_heap_allocated(memory, (int64_t)bytes, caller);
}

/* Ends following a block; returns its bytes, or -1. Must be called before the block is freed, because another
 * thread may get the same memory immediately afterwards. */
static int64_t forget(const void *memory, void **owner)
{
    return memory && iolens_heap_freed ? iolens_heap_freed(memory, owner) : -1;
}

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
        leave(&traced_##name, &call, memory, bytes, __builtin_return_address(0));                            \
        return memory;                                                                                       \
    }

ALLOCATES(malloc, (size_t size), (size), size, give(size))
ALLOCATES(calloc, (size_t count, size_t size), (count, size), count *size, give(count *size))
ALLOCATES(aligned_alloc, (size_t alignment, size_t size), (alignment, size), size, NULL)
ALLOCATES(memalign, (size_t alignment, size_t size), (alignment, size), size, NULL)
ALLOCATES(valloc, (size_t size), (size), size, NULL)
ALLOCATES(pvalloc, (size_t size), (size), size, NULL)

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
    void *owner;
    int64_t before = forget(memory, &owner);
    bool traced = trace_enter(&traced_realloc, &call);
    void *got = real(memory, size);
    if (traced)
        leave(&traced_realloc, &call, got, size, __builtin_return_address(0));
    if (!got && size > 0 && before >= 0)
        iolens_heap_kept(memory, before, owner); /* realloc failed, so the old block is still in use. */
    return got;
}

EXPORT void trace_free(void *memory) __asm__("free");
void trace_free(void *memory)
{
    void (*real)(void *) = (void (*)(void *))trace_real(&traced_free, NULL);
    struct traced_call call;
    void *owner;
    if (is_first(memory) || !real)
        return;
    forget(memory, &owner);
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
    leave(&traced_posix_memalign, &call, error ? NULL : *place, size, __builtin_return_address(0));
    return error;
}

/* Runs before the program starts threads. */
__attribute__((constructor)) static void resolve(void)
{
    struct traced_function *const all[] = {&traced_malloc, &traced_calloc,        &traced_realloc,
                                           &traced_free,   &traced_aligned_alloc, &traced_posix_memalign};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        trace_real(all[i], NULL);
    if (iolens_heap_start)
        iolens_heap_start();
}
