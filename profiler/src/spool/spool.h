/* The spool: a file in memory-backed or local storage that holds a process's records while it runs, so that
 * they outlive it. The arena's slabs are mapped from it, at an address where no process has anything else;
 * iolens-recover maps them there again and writes the log with the code that writes every log.
 *
 * No descriptor stays open: the program may close or reuse any number. Room is reserved before it is mapped,
 * so that a full disk is an error and not a SIGBUS. */
#ifndef IOLENS_SPOOL_H
#define IOLENS_SPOOL_H

#include <stdatomic.h>

#include "../adapter.h"
#include "../job/identity.h"
#include "../memory/area.h"
#include "../runtime/settings.h"
#include "../runtime/timeline.h"
#include "../system/clock.h"
#include "../system/path.h"

#define SPOOL_MAGIC  "iolensSP"
#define SPOOL_SUFFIX ".spool"

enum {
    SPOOL_HEADER_BYTES = 1 << 16,
    SPOOL_TEXT_BYTES = 8192,
    SPOOL_NAME_BYTES = 64,
    SPOOL_NAMES = 1000,
    SPOOL_PLACES = 64,
    SPOOL_TABLES = 64,
    SPOOL_FOLDERS = 2
};

/* Address at which spools are mapped: far from addresses that a kernel chooses, and in a range that the
 * address, thread and memory sanitizers leave to the program. A child of fork takes the next free place. */
#define SPOOL_FIRST_PLACE UINT64_C(0x550000000000)
#define SPOOL_PLACE_BYTES (UINT64_C(1) << 36)

struct file;

/* Facts by which other processes can find out whether this process still runs. */
struct spool_process {
    int64_t pid, start_ticks; /* Process number, and field 22 of /proc/<pid>/stat. */
    uint64_t namespace;       /* Inode of /proc/self/ns/pid. */
    char boot[40];            /* /proc/sys/kernel/random/boot_id */
};

/* The job of a spool; all ranks of one job have the same key. */
struct spool_job {
    int64_t pid, start_ns; /* Process number of rank 0, and the time at which it began. */
    char host[HOST_BYTES];
};

struct spool_header {
    char magic[8];
    uint64_t layout; /* Checksum of the layout of all structures; see recording_layout. */
    uint64_t base;   /* Address at which this header was mapped. */
    struct spool_process process;
    struct spool_job job;
    int32_t rank, ranks; /* Number of ranks; 0 outside an MPI job, or if the process was killed before the end
                            of MPI_Init. */
    struct clock_offsets offsets;
    char mpi_version[256], io_component[USER_BYTES];
    int64_t jobid, fork_parent;
    struct finalized finalized;
    struct origin origin;
    struct clock clock;
    uint64_t beat_ticks, beat_ns; /* Values of both clocks when the spool was last updated. */
    struct file *first;           /* First file of the registry. */
    _Atomic uint32_t partial;     /* Bit m: module m could not record some file. */
    /* Array by process table: the table's state, which is made at the first use; NULL until then. */
    _Atomic(void *) tables[SPOOL_TABLES];
    uint32_t overflow;        /* 1 if later records are not in this file, because it had no room for them. */
    uint32_t replaced;        /* True if exec replaced the program; the process continues as another one. */
    struct settings settings; /* The texts of the settings lie in `text`. */
    struct identity identity;
    uint64_t identity_hash;
    char log[PATH_BYTES]; /* Path of the log with these records, once it is being written. */
    size_t text_used;
    char text[SPOOL_TEXT_BYTES];
};

_Static_assert(sizeof(struct spool_header) <= SPOOL_HEADER_BYTES,
               "SPOOL_HEADER_BYTES must have room for the header");

struct spool {
    struct spool_header *header; /* The header at the start of the spool; NULL without a spool. */
    size_t bytes;                /* Number of bytes of the spool that are mapped. */
    /* Number of bytes behind the header that the first call of spool_extend will want. */
    size_t first_slab;
    bool refused;       /* True if there is no spool, or no more room in it. */
    uint64_t layout;    /* Checksum of the memory layout of the spool's contents. */
    uint64_t told_ns;   /* Time of the last call of `tell`, by CLOCK_MONOTONIC. */
    void (*tell)(void); /* Updates the contents of the spool. */
    char path[PATH_BYTES];
};

extern struct spool iolens_spool;

/* Folders for spools unless IOLENS_SPOOL names one; the first usable folder is taken. */
extern const char *const spool_folders[SPOOL_FOLDERS];

/* Makes the spool of this process when it begins. `tell` is called when the spool is updated, at most ten
 * times per second. */
void spool_start(uint64_t layout, void (*tell)(void));

/* Fills in the facts by which a spool names this process. */
void spool_describe_process(struct spool_process *process);

/* Forms the n-th name that the file of a process's spool may have: its number, then its start as well, then a
 * counter. An earlier process may have left a spool of this number, and containers that start together may
 * each have a process of the same number and start. */
void spool_file_name(char name[SPOOL_NAME_BYTES], const struct spool_process *self, int nth);

/* Returns `bytes` (whole pages) of new zeroed memory, or NULL after one message with the reason. */
void *spool_extend(size_t bytes);

/* Collective. Makes sure that there is a spool, and writes job and rank into its header. */
void spool_parallel(const struct iolens_transport *transport);

/* Makes the records private to this process when recording has stopped: the file keeps the records as they
 * are now. Returns false without memory for that; the records must then not be changed. */
bool spool_freeze(void);

/* Excludes the records so far from the log of a process that is killed. */
void spool_forget(void);

/* Stores the name of the log that is being written. If that log exists, `iolens recover` makes no second
 * one. */
void spool_name_log(const char *log);

/* Removes the spool, because its records are in a log or not wanted. */
void spool_remove(void);

/* Begins without a spool, in a child of fork or after the log of a job: the former one is of other records.
 */
void spool_anew(void);

/* Stores the current time, which shows that the process is alive and measures the speed of the clock.
 * Frequent callers leave SECONDS_BETWEEN_BEATS between two beats. */
#define SECONDS_BETWEEN_BEATS 0.125 /* Added to times, so it is a multiple of their unit (clock.h). */
void spool_beat(void);

/* Called when a program begins. If an earlier program of this process left a spool, keeps the spool if it is
 * `worth` a log, marked as ended now and under another name; else removes it. A failed exec changes nothing,
 * because only the new program does this. `worth` reads the header at its own address, and in `area` the
 * memory behind it. */
void earlier_settle(bool (*worth)(const struct spool_header *header, const struct area *area));

#endif
