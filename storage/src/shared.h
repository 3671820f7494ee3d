/* State that all processes of a job share: the targets' clocks, the locks, and the accounts that are
 * balanced at the end. */
#ifndef OST_SHARED_H
#define OST_SHARED_H

#include <pthread.h>
#include <stdbool.h>

#include "model.h"

#define OST_OBJECTS 4096 /* objects (files times targets) that one job can touch */
#define OST_FILES   4096

enum fault {
    FAULT_MAPPED,    /* a file was mapped into memory, which cannot be charged */
    FAULT_UNCHARGED, /* a file grew by bytes that no covered call wrote */
    FAULT_SLOW_DISK, /* real calls took longer than the model allows */
    FAULT_OBJECTS,   /* more objects than the table holds */
    FAULT_CLIENTS,   /* more clients than the model holds */
    FAULT_HOSTS,     /* the job spans hosts, whose clocks are not shared */
    FAULT_COUNT
};

/* How long a file may be by what was charged, and how long it was found when it was closed. */
struct shared_file {
    uint64_t inode;
    int64_t accounted, seen;
    bool opened; /* the job has opened it before */
};

struct shared {
    uint32_t ready;
    char boot[40]; /* boot id, which differs after each start of the kernel */
    pthread_mutex_t lock;
    struct ost_params params;
    struct ost_state state;
    uint32_t faults; /* bit set of enum fault */
    int64_t bytes_written, bytes_read;
    double modelled, excess; /* seconds: of all calls by the model; what real calls took beyond it */
    struct ost_object objects[OST_OBJECTS];
    struct shared_file files[OST_FILES];
};

/* Map the state of job `job` below `mount`, made from the configuration text by whoever comes first. NULL,
 * with one sentence in `problem`, when that fails. */
struct shared *shared_open(const char *mount, const char *job, const char *config, char *problem,
                           size_t room);

void shared_lock(struct shared *shared);
void shared_unlock(struct shared *shared);

/* The object of `file` on `target`, made when it is new; NULL, and the fault noted, when the table is full.
 */
struct ost_object *shared_object(struct shared *shared, uint64_t file, int target);

/* The books of a file, opened with its present `size` when the job meets it first; NULL, and the fault noted,
 * when the table is full. */
struct shared_file *shared_file(struct shared *shared, uint64_t inode, int64_t size);

/* The file may be `end` bytes long. `file` may be NULL. */
void shared_account(struct shared_file *file, int64_t end);

/* Write the job's books, as they stand, to MOUNT/.ost/jobs/JOB.json. */
void shared_report(struct shared *shared, const char *mount, const char *job);

#endif
