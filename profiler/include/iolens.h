/* Marks for iolens: regions that a program's log distinguishes, and functions that switch recording off and
 * on.
 *
 *   iolens_region_begin(1, "solve");
 *   ...
 *   iolens_region_end(1);
 *
 * A program with these calls can be built and run without iolens: the functions are looked up at their
 * first call, and do nothing without the profiler. Before glibc 2.34 link with -ldl. A program without a
 * dynamic loader defines IOLENS_OFF before it includes this file; the functions are then empty.
 *
 * For C and C++; Fortran has the module in iolens.f90. The file may be copied into any program. */
#ifndef IOLENS_H
#define IOLENS_H

/* Keeps a program built with -finstrument-functions from reporting these functions as its own. */
#ifdef __GNUC__
#define IOLENS_MARK static inline __attribute__((no_instrument_function))
#else
#define IOLENS_MARK static inline
#endif

#ifndef IOLENS_OFF

#include <dlfcn.h>
#include <stddef.h>

#ifdef RTLD_DEFAULT
#define IOLENS_ANYWHERE RTLD_DEFAULT
#else
#define IOLENS_ANYWHERE NULL
#endif

struct iolens_marks {
    void (*region_begin)(int, const char *);
    void (*region_end)(int);
    void (*record)(int);
    void (*flush)(void);
    int looked;
};

IOLENS_MARK const struct iolens_marks *iolens_marks(void)
{
    static struct iolens_marks marks;
    if (!__atomic_load_n(&marks.looked, __ATOMIC_ACQUIRE)) {
        *(void **)&marks.region_begin = dlsym(IOLENS_ANYWHERE, "iolens_region_begin");
        *(void **)&marks.region_end = dlsym(IOLENS_ANYWHERE, "iolens_region_end");
        *(void **)&marks.record = dlsym(IOLENS_ANYWHERE, "iolens_record");
        *(void **)&marks.flush = dlsym(IOLENS_ANYWHERE, "iolens_flush");
        __atomic_store_n(&marks.looked, 1, __ATOMIC_RELEASE);
    }
    return &marks;
}

#define IOLENS_CALL(name, arguments)                                                                         \
    do {                                                                                                     \
        if (iolens_marks()->name)                                                                            \
            iolens_marks()->name arguments;                                                                  \
    } while (0)

#else

#define IOLENS_CALL(name, arguments) ((void)0)

#endif

/* Enters the region `id` in the calling thread, inside its current region. The label describes the region
 * (at most 63 bytes; NULL for none). A region may be entered any number of times, by any thread. */
IOLENS_MARK void iolens_region_begin(int id, const char *label)
{
    (void)id, (void)label;
    IOLENS_CALL(region_begin, (id, label));
}

/* Leaves the innermost region `id` in the calling thread. */
IOLENS_MARK void iolens_region_end(int id)
{
    (void)id;
    IOLENS_CALL(region_end, (id));
}

/* Stops recording in the whole process if `state` is 0; resumes recording otherwise. */
IOLENS_MARK void iolens_record(int state)
{
    (void)state;
    IOLENS_CALL(record, (state));
}

/* Makes everything recorded so far part of the log even if the process is killed. */
IOLENS_MARK void iolens_flush(void) { IOLENS_CALL(flush, ()); }

#undef IOLENS_CALL

#endif
