/* Marks for iolens: parts of a program that its log tells apart, and where recording is switched off and on.
 *
 *   iolens_region_begin(1, "solve");
 *   ...
 *   iolens_region_end(1);
 *
 * A program with these calls needs nothing of iolens to be built or run: the functions are looked for when
 * they are first called, and do nothing when the profiler is not there. Before glibc 2.34 it is linked with
 * -ldl. A program without a dynamic loader defines IOLENS_OFF ahead of this file, and they are empty.
 *
 * For C and C++; Fortran has the module in iolens.f90. May be copied into any program. */
#ifndef IOLENS_H
#define IOLENS_H

/* A program built with -finstrument-functions is told of its own functions, not of these. */
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

/* The calling thread enters the region `id`, inside the one that it is in. The label says what it is (at most
 * 63 bytes; NULL: nothing). A region may be entered any number of times, by any thread. */
IOLENS_MARK void iolens_region_begin(int id, const char *label)
{
    (void)id, (void)label;
    IOLENS_CALL(region_begin, (id, label));
}

/* The calling thread leaves the innermost region `id`. */
IOLENS_MARK void iolens_region_end(int id)
{
    (void)id;
    IOLENS_CALL(region_end, (id));
}

/* 0: nothing that the process does is counted from now on; else it is again. */
IOLENS_MARK void iolens_record(int state)
{
    (void)state;
    IOLENS_CALL(record, (state));
}

/* What was counted until now shall be there even if the process is killed. */
IOLENS_MARK void iolens_flush(void) { IOLENS_CALL(flush, ()); }

#undef IOLENS_CALL

#endif
