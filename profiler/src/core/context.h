/* The one runtime context: everything the library remembers, in the order in which it is set up. */
#ifndef IOLENS_CONTEXT_H
#define IOLENS_CONTEXT_H

#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "../adapter.h"
#include "../modules/aio.h"
#include "../modules/dxt_choice.h"
#include "../modules/heatmap.h"
#include "../modules/lustre_client.h"
#include "../modules/streams.h"
#include "../modules/unfollowed.h"
#include "arena.h"
#include "choice.h"
#include "clock.h"
#include "compress.h"
#include "fds.h"
#include "identity.h"
#include "ids.h"
#include "names.h"
#include "path.h"
#include "registry.h"
#include "settings.h"
#include "spool.h"
#include "timeline.h"

struct context {
    bool started;
    atomic_bool recording;
    pid_t pid; /* of the process that records; another one (a child of vfork) must not touch anything */
    pid_t fork_parent; /* 0 unless this process was forked from a recording one */
    int64_t jobid;
    struct clock clock;
    struct arena arena;   /* what becomes part of the log, in the spool */
    struct arena scratch; /* what ends with the process */
    struct compressor compressor;
    struct spool spool;
    struct identity identity;      /* read when the log is written */
    char io_component[USER_BYTES]; /* that opened MPI files; "": not known */
    struct clock_end ended;        /* read when the log is written */
    const char
        *lost; /* a sentence: why another process writes the log of this one; NULL: it does so itself */
    struct settings settings;
    struct choice choice;
    bool muted; /* this rank is not recorded, but takes part in writing the log */
    struct dxt_choice dxt;
    struct registry registry;
    struct names names;
    struct timeline timeline;      /* known at the end */
    int64_t partial[MODULE_COUNT]; /* ranks on which the module left something out; known at the end */
    bool common_left_out;          /* the table file_ranks lacks files that only some ranks used */
    struct fds fds;
    struct streams streams;
    struct aio aio;
    struct unfollowed_calls unfollowed;
    struct lustre_client client;
    struct ids datasets;                  /* open HDF5 datasets, to their state */
    struct ids netcdfs;                   /* open PnetCDF files, to their state */
    struct ids variables;                 /* variables of those, by pnetcdf_key() */
    void *_Atomic heatmaps[HEATMAP_APIS]; /* states of the HEATMAP module, NULL until the first transfer */
    struct stat stderr_at_start;          /* so that a message never lands in a file that took its place */
    const struct iolens_transport *transport; /* NULL until MPI_Init */
    double aligned;                           /* this rank's clock when all ranks left a common barrier */
};

extern struct context iolens;

/* True in a thread while it is inside the recorder, whose own calls pass through. */
extern __thread bool iolens_busy __attribute__((tls_model("initial-exec")));

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
    return __builtin_expect(atomic_load_explicit(&iolens.recording, memory_order_relaxed) && !iolens_busy, 1);
}

/* False in a child of vfork, which shares the memory of its parent: asked of the kernel. */
bool iolens_is_this_process(void);

/* The same for events, which are many. Where vfork is wrapped (vfork.c), its child never gets to an event. */
static inline bool iolens_owns_memory(void)
{
#if defined(__x86_64__)
    return true;
#else
    return iolens_is_this_process();
#endif
}

/* The open file behind a descriptor, or NULL. */
static inline struct open_file *fds_find(int fd)
{
    struct open_file *open = NULL;
    if (__builtin_expect(iolens.fds.table && fd >= 0 && fd < FDS_MAX, 1))
        open = atomic_load_explicit(&iolens.fds.table[fd], memory_order_acquire);
    if (__builtin_expect(!open && iolens.fds.inherited, 0))
        open = fds_inherited(fd);
    return open;
}

/* One sentence on standard error, prefixed "iolens: ", unless the program closed or replaced it. */
void iolens_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
