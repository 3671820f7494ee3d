/* The spool: a file in memory-backed or local storage that holds a process's records while it runs, so that
 * they outlive it. The arena's slabs are mapped from it, at an address where no process has anything else;
 * iolens-recover maps them there again and writes the log with the code that writes every log.
 *
 * No descriptor stays open: the program may close or reuse any number. Room is reserved before it is mapped,
 * so that a full disk is an error and not a SIGBUS. */
#ifndef IOLENS_SPOOL_H
#define IOLENS_SPOOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../adapter.h"
#include "../system/clock.h"
#include "../job/identity.h"
#include "../job/origin.h"
#include "../system/path.h"
#include "../runtime/clock_offsets.h"
#include "../runtime/settings.h"

#define SPOOL_MAGIC  "iolensSP"
#define SPOOL_SUFFIX ".spool"

enum {
    SPOOL_HEADER_BYTES = 1 << 16,
    SPOOL_TEXT_BYTES = 8192,
    SPOOL_NAME_BYTES = 64,
    SPOOL_PLACES = 64,
    SPOOL_TABLES = 64,
    SPOOL_FOLDERS = 2
};

/* Where spools are mapped: far from where a kernel puts anything by itself, and inside what the address,
 * thread and memory sanitizers leave to the program. A child of fork takes the next free place. */
#define SPOOL_FIRST_PLACE UINT64_C(0x550000000000)
#define SPOOL_PLACE_BYTES (UINT64_C(1) << 36)

struct file;

/* What is needed to find out whether a process still runs. */
struct spool_process {
    int64_t pid, start_ticks; /* field 22 of /proc/<pid>/stat */
    uint64_t namespace;       /* inode of /proc/self/ns/pid */
    char boot[40];            /* /proc/sys/kernel/random/boot_id */
};

/* The ranks of one job have the same key. */
struct spool_job {
    int64_t pid, start_ns; /* of rank 0 */
    char host[HOST_BYTES];
};

struct spool_header {
    char magic[8];
    uint64_t layout; /* of all structures; see recording_layout */
    uint64_t base;   /* address that this header was mapped at */
    struct spool_process process;
    struct spool_job job;
    int32_t rank, ranks; /* ranks 0: not in an MPI job, or killed before MPI_Init ended */
    struct clock_offsets offsets;
    char mpi_version[256], io_component[USER_BYTES];
    int64_t jobid, fork_parent;
    struct origin origin;
    struct clock clock;
    uint64_t beat_ticks, beat_ns;         /* both clocks at the latest sign of life */
    struct file *first;                   /* of the registry */
    _Atomic uint32_t partial;             /* bit m: module m had to leave something out */
    _Atomic(void *) tables[SPOOL_TABLES]; /* states of the process tables */
    uint32_t overflow;                    /* later records are elsewhere: there was no room for them here */
    uint32_t replaced;                    /* by exec: the process goes on as another program */
    struct settings settings;             /* texts in `text` */
    struct identity identity;
    uint64_t identity_hash;
    char log[PATH_BYTES]; /* the log that these records went into, once that is being written */
    size_t text_used;
    char text[SPOOL_TEXT_BYTES];
};

_Static_assert(sizeof(struct spool_header) <= SPOOL_HEADER_BYTES, "the header fits its pages");

struct spool {
    struct spool_header *header; /* NULL: none */
    size_t bytes;                /* mapped */
    bool refused;                /* there is none, or no more of it */
    uint64_t layout;             /* of what will lie in it */
    uint64_t told_ns;            /* when `tell` was last called, by CLOCK_MONOTONIC */
    void (*tell)(void);          /* brings up to date what lies in it */
    char path[PATH_BYTES];
};

extern struct spool iolens_spool;

/* Where spools lie unless IOLENS_SPOOL names a folder: in the first in which they can. */
extern const char *const spool_folders[SPOOL_FOLDERS];

/* When the process begins. `tell` is called at signs of life, at most ten times a second. */
void spool_start(uint64_t layout, void (*tell)(void));

/* This process, as its spool names it. */
void spool_describe_process(struct spool_process *process);

/* `bytes` (whole pages) of new zeroed memory, or NULL: the reason has been said, once. */
void *spool_extend(size_t bytes);

/* Make sure that there is a spool, and enter which rank of which job this is. Collective. */
void spool_parallel(const struct iolens_transport *transport);

/* Recording has stopped: what is done to the records from now on stays out of the file. False without memory
 * for that: then nothing may be done to them. */
bool spool_freeze(void);

/* What was recorded so far is no part of the log of a process that is killed. */
void spool_forget(void);

/* The log that is being written, so that nobody writes another one when it is there. */
void spool_name_log(const char *log);

/* The records are in a log, or not wanted. */
void spool_remove(void);

/* In a child of fork: the parent's spool is not this process's. */
void spool_after_fork(void);

/* A sign of life, which also tells how fast the clock runs. */
void spool_beat(void);

#endif
