/* Code that the libraries of all groups have in common. Each library consists of this file, forward.h and the
 * list of one group. */
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>

#include "../adapter.h"
#include "../next_symbol.h"
#include "forward.h"

#define BORDER(returns, name, parameters, meaning) __attribute__((weak)) returns name parameters;
#include "../adapter.def"
#undef BORDER

#define INITIAL_EXEC __attribute__((tls_model("initial-exec")))

static __thread bool inside INITIAL_EXEC; /* True while the thread is in a function of this group. */
/* True while a function is looked up, because the loader may call malloc. */
static __thread bool resolving INITIAL_EXEC;
static __thread uintptr_t frame INITIAL_EXEC; /* Stack pointer at the traced call in which the thread is. */
static unsigned forks;

struct search {
    const char *name;
    const void *own;
    void *found;
};

/* Looks the name up in one loaded library, which may be private to its loader (RTLD_LOCAL). */
static int search_in(struct dl_phdr_info *info, size_t size, void *context)
{
    struct search *search = context;
    (void)size;
    void *(*open)(const char *, int);
    *(void **)&open = dlsym(RTLD_NEXT, "dlopen"); /* Another library of the profiler wraps dlopen. */
    void *library = open && *info->dlpi_name ? open(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *found = library ? dlsym(library, search->name) : NULL;
    Dl_info where;
    if (library && iolens_library_close)
        iolens_library_close(library);
    if (!found || !dladdr(found, &where) || where.dli_fbase == search->own)
        return 0;
    search->found = found;
    return 1;
}

/* The object file whose code contains the address `at`. */
struct object {
    uintptr_t at, begin, end;
    const char *name;
};

static int holds(struct dl_phdr_info *info, size_t size, void *context)
{
    struct object *object = context;
    uintptr_t begin = UINTPTR_MAX, end = 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD)
            continue;
        uintptr_t first = info->dlpi_addr + part->p_vaddr, last = first + part->p_memsz;
        begin = first < begin ? first : begin;
        end = last > end ? last : end;
    }
    if (object->at < begin || object->at >= end)
        return 0;
    object->begin = begin;
    object->end = end;
    object->name = info->dlpi_name;
    return 1;
}

/* Returns the real function that a caller means; NULL if there is none. Several Python modules may each have
 * a private copy of a library, so the libraries of the caller's object file are searched first. */
static void *find_for(const char *name, struct object *caller)
{
    Dl_info self;
    struct search search = {.name = name};
    if (!dladdr(&forks, &self))
        return NULL;
    search.own = self.dli_fbase;
    if (dl_iterate_phdr(holds, caller)) {
        struct dl_phdr_info info = {.dlpi_name = caller->name};
        search_in(&info, sizeof info, &search);
    }
    if (!search.found)
        dl_iterate_phdr(search_in, &search);
    return search.found;
}

/* Keeps the real function for all calls from one object, if there is a free slot. `begin` reserves the slot,
 * and `real` marks it as complete. */
static void keep(struct traced_function *function, const struct object *caller, void *real)
{
    for (int i = 0; i < TRACE_CALLERS; i++) {
        struct traced_real *place = &function->of[i];
        uintptr_t none = 0;
        if (!atomic_compare_exchange_strong(&place->begin, &none, caller->begin))
            continue;
        place->end = caller->end;
        atomic_store_explicit(&place->real, real, memory_order_release);
        return;
    }
}

static void *kept(struct traced_function *function, uintptr_t caller)
{
    for (int i = 0; i < TRACE_CALLERS; i++) {
        struct traced_real *place = &function->of[i];
        void *real = atomic_load_explicit(&place->real, memory_order_acquire);
        if (real && caller >= place->begin && caller < place->end)
            return real;
    }
    return NULL;
}

/* Returns true if the function that was found is the core's wrapper of an HDF5 function. The core also
 * precedes HDF5 in the search order, and chooses between several HDF5 libraries by itself, by the caller. */
static bool is_of_core(const void *found)
{
    Dl_info core, object;
    return strcmp(TRACE_GROUP, "hdf5") == 0 && iolens_calls_for && dladdr((void *)iolens_calls_for, &core) &&
           dladdr(found, &object) && core.dli_fbase == object.dli_fbase;
}

static void *look(struct traced_function *function, uintptr_t caller)
{
    struct object object = {.at = caller};
    resolving = true;
    int error = errno;
    void *found = next_symbol(function->symbol);
    function->of_core = found && is_of_core(found);
    function->real = found;
    if (!found && (found = find_for(function->symbol, &object)) && object.begin)
        keep(function, &object, found);
    errno = error;
    resolving = false;
    return found;
}

void *trace_real(struct traced_function *function, const void *caller)
{
    void *found = function->real;
    if (!found && !resolving && !(found = kept(function, (uintptr_t)caller)))
        found = look(function, (uintptr_t)caller);
    if (function->of_core)
        iolens_calls_for(caller);
    return found;
}

/* Returns true if longjmp or an exception has left the traced call: its part of the stack, which grows
 * downward, is in use again. Addresses on a signal handler's own stack cannot be compared with it. */
static bool was_left(uintptr_t now) { return now > frame && !iolens_on_signal_stack(); }

/* Returns true if the functions of this group run parts of the program, as OpenMP's do. Calls in these parts
 * count as the program's own. Of the known OpenMP libraries, only in LLVM's do listed functions call each
 * other. */
static bool runs_the_program(void) { return strcmp(TRACE_GROUP, "omp") == 0; }
static bool is_of_llvm(const struct traced_function *function) { return function->symbol[0] == '_'; }

static bool is_of_library(const struct traced_function *function, uintptr_t now)
{
    if (!inside)
        return false;
    return runs_the_program() ? is_of_llvm(function) : !was_left(now);
}

bool trace_enter(struct traced_function *function, struct traced_call *call)
{
    uintptr_t now = (uintptr_t)__builtin_frame_address(0);
    unsigned wanted;
    if (is_of_library(function, now) || !iolens_traced_function || !(wanted = iolens_tracing()))
        return false;
    if (!function->number && !(function->number = iolens_traced_function(TRACE_GROUP, function->symbol)))
        return false;
    call->within = inside && runs_the_program();
    inside = !runs_the_program() || !is_of_llvm(function);
    frame = now;
    call->counted = 0;
    call->forks = forks;
    if (wanted & IOLENS_TRACE_COUNTERS)
        call->counted = iolens_counted_begin(function->number, 0, now);
    call->spent = iolens_spent();
    call->t0 = iolens_now();
    return true;
}

/* Counts a traced call at its end. In a child of fork, a call that began in its parent, by another clock, is
 * not counted. */
void trace_leave(const struct traced_function *function, const struct traced_call *call, int64_t bytes)
{
    double t1 = iolens_now();
    if (call->forks != forks)
        return;
    if (call->counted)
        iolens_counted_end(call->counted, function->number, 0);
    iolens_traced(function->number, call->t0, t1, bytes, call->spent);
    inside = call->within;
}

static void forget(void)
{
    inside = false;
    forks++;
}

__attribute__((constructor)) static void start(void) { pthread_atfork(NULL, NULL, forget); }
