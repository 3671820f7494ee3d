/* The runtime context: what all parts of the library share. What only one part remembers, it keeps itself, in
 * its variable iolens_<part>. */
#ifndef IOLENS_CONTEXT_H
#define IOLENS_CONTEXT_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../adapter.h"
#include "../memory/arena.h"
#include "../system/clock.h"
#include "../job/identity.h"
#include "../job/origin.h"
#include "../system/say.h"
#include "clock_offsets.h"
#include "settings.h"
#include "timeline.h"

enum { WIPED_BYTES = 4096 };

/* State that a child does not inherit, however it was made: the kernel empties this page in it. A child of
 * fork sets it again. A child made without the C library (clone by number, _Fork) records nothing, because
 * its records would go into its parent's spool. */
struct wiped {
    _Alignas(WIPED_BYTES) atomic_bool recording;
    char rest[WIPED_BYTES - sizeof(atomic_bool)];
};

struct context {
    struct wiped wiped;
    bool started;
    bool recorded_at_fork;
    pid_t pid; /* of the process that records; another one (a child of vfork) must not touch anything */
    pid_t fork_parent; /* 0 unless this process was forked from a recording one */
    struct origin origin;
    int64_t jobid;
    struct clock clock;
    struct arena arena;            /* what becomes part of the log, in the spool */
    struct arena scratch;          /* what ends with the process */
    struct identity identity;      /* read when the log is written */
    char io_component[USER_BYTES]; /* that opened MPI files; "": not known */
    struct clock_end ended;        /* read when the log is written */
    const char
        *lost; /* a sentence: why another process writes the log of this one; NULL: it does so itself */
    const char *closed; /* a sentence: why recording ended before the process did; NULL: it did not */
    struct settings settings;
    atomic_bool paused;       /* the program asked that nothing is recorded for now */
    bool muted;               /* this rank is not recorded, but takes part in writing the log */
    bool starved;             /* this rank has no memory to write its records into the job's log */
    struct timeline timeline; /* known at the end */
    bool stand_in;            /* no spool of this rank was left: what is said of it is a higher one's */
    bool programs_differ;     /* not all ranks run programs of one name; known at the end */
    const struct iolens_transport *transport; /* NULL until MPI_Init */
    struct clock_offsets offsets;
};

extern struct context iolens;

/* Have the page emptied in children; where the kernel cannot (before Linux 4.14), it is not. */
void iolens_wipe_in_children(void);

/* True in a thread while it is inside the recorder, whose own calls pass through. */
extern __thread bool iolens_busy __attribute__((tls_model("initial-exec")));

/* Seconds that the thread has spent in timed calls: of nested calls the outermost one's time replaces theirs.
 */
extern __thread double iolens_spent_time __attribute__((tls_model("initial-exec")));

/* Where the thread's errno is: asking the C library each time costs more than the rest of saving it. */
extern __thread int *iolens_errno __attribute__((tls_model("initial-exec")));

static inline int *errno_place(void)
{
    if (__builtin_expect(!iolens_errno, 0))
        iolens_errno = &errno;
    return iolens_errno;
}

/* True when this call is to be recorded. */
static inline bool iolens_active(void)
{
    return __builtin_expect(
        atomic_load_explicit(&iolens.wiped.recording, memory_order_relaxed) && !iolens_busy, 1);
}

/* True while the program has switched recording off: files are followed, but nothing is counted. */
static inline bool iolens_paused(void)
{
    return __builtin_expect(atomic_load_explicit(&iolens.paused, memory_order_relaxed), 0);
}

/* False in a child of vfork, which shares the memory of its parent: asked of the kernel. */
bool iolens_is_this_process(void);

/* The same, cheap enough for every event: where vfork is wrapped (vfork.c), its child never gets to an
 * event, and the kernel need not be asked. */
static inline bool iolens_owns_memory(void)
{
#if defined(__x86_64__)
    return true;
#else
    return iolens_is_this_process();
#endif
}

#endif
