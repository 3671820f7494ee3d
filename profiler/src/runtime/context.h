/* The runtime context, which all parts of the library share. State that only one part needs is kept by that
 * part, in its variable iolens_<part>. */
#ifndef IOLENS_CONTEXT_H
#define IOLENS_CONTEXT_H

#include <errno.h>
#include <sys/types.h>

#include "../adapter.h"
#include "../job/identity.h"
#include "../memory/arena.h"
#include "../system/clock.h"
#include "../system/say.h"
#include "settings.h"
#include "timeline.h"

enum { WIPED_BYTES = 4096 };

/* State that no child process inherits, whatever call created the child: the kernel clears this page. A child
 * of fork sets the state again. A child made without the C library (clone by number, _Fork) records nothing,
 * because its records would go into its parent's spool. */
struct wiped {
    _Alignas(WIPED_BYTES) atomic_bool recording;
    char rest[WIPED_BYTES - sizeof(atomic_bool)];
};

struct context {
    struct wiped wiped;
    bool started;
    /* Number of the recording process; a process with another number (a child of vfork) must change
     * nothing. */
    pid_t pid;
    pid_t fork_parent; /* Parent's number if this process was forked from a recording one; else 0. */
    struct finalized finalized;
    struct origin origin;
    int64_t jobid;
    struct clock clock;
    struct arena arena;       /* Memory for everything that becomes part of the log; lies in the spool. */
    struct arena scratch;     /* Memory for data that is not needed after the process ends. */
    struct identity identity; /* Facts about the process; read when the log is written. */
    char io_component[USER_BYTES]; /* Component of MPI-IO that opened files; "" if unknown. */
    struct clock_end ended;        /* Clocks at the end; read when the log is written. */
    const char
        /* Why another process writes this process's log, as a sentence; NULL if this process writes it. */
        *lost;
    /* Why recording ended before the process did, as a sentence; NULL if it did not. */
    const char *closed;
    struct settings settings;
    atomic_bool paused; /* True while recording is paused at the program's request. */
    bool muted;         /* True if this rank is not recorded, but takes part in writing the log. */
    /* True if this rank lacks the memory to write its records into the job's log. */
    bool starved;
    struct timeline timeline; /* Conversion to the job's clock; known when recording ends. */
    /* True if this rank left no spool; its facts are then those of a higher rank. */
    bool stand_in;
    bool programs_differ; /* True if ranks run programs of different names; known when recording ends. */
    const struct iolens_transport *transport; /* Functions of the MPI adapter; NULL until MPI_Init. */
    struct clock_offsets offsets;
};

extern struct context iolens;

/* Asks the kernel to empty the page in children; kernels before Linux 4.14 cannot do so. */
void iolens_wipe_in_children(void);

/* True in a thread that is inside the recorder, so that calls which the recorder makes itself are not
 * recorded. */
extern __thread bool iolens_busy __attribute__((tls_model("initial-exec")));

/* Seconds that the thread has spent in timed calls. The time of a call inside another timed call is added
 * only once. */
extern __thread double iolens_spent_time __attribute__((tls_model("initial-exec")));

/* Address of the thread's errno, remembered because asking the C library each time costs more than the rest
 * of saving errno. */
extern __thread int *iolens_errno __attribute__((tls_model("initial-exec")));

static inline int *errno_place(void)
{
    if (__builtin_expect(!iolens_errno, 0))
        iolens_errno = &errno;
    return iolens_errno;
}

/* Returns true if this call is to be recorded. */
static inline bool iolens_active(void)
{
    return __builtin_expect(
        atomic_load_explicit(&iolens.wiped.recording, memory_order_relaxed) && !iolens_busy, 1);
}

/* Returns true while the program has switched recording off: files are followed, but nothing is counted. */
static inline bool iolens_paused(void)
{
    return __builtin_expect(atomic_load_explicit(&iolens.paused, memory_order_relaxed), 0);
}

/* Asks the kernel whether this is the recording process; false in a child of vfork, which shares its parent's
 * memory. */
bool iolens_is_this_process(void);

/* Returns true in the recording process. Cheap enough to be called at every event: where vfork is wrapped
 * (vfork.c), a child of vfork never reaches an event, so the kernel need not be asked. */
static inline bool iolens_owns_memory(void)
{
#if defined(__x86_64__)
    return true;
#else
    return iolens_is_this_process();
#endif
}

/* Row of the table region_names for the thread's innermost region; 0 outside all regions. */
extern __thread uint32_t iolens_region __attribute__((tls_model("initial-exec")));

#endif
