/* State that all processes of a job share: the targets' clocks, the locks, and the accounts that are
 * balanced at the end. */
#ifndef OST_SHARED_H
#define OST_SHARED_H

#include <pthread.h>
#include <stdbool.h>

#include "model.h"

#define OST_OBJECTS 4096 /* Largest number of objects (files times targets) that one job can touch. */
#define OST_FILES   4096

enum fault {
    FAULT_MAPPED,    /* A file was mapped into memory; transfers of mapped files cannot be charged. */
    FAULT_UNCHARGED, /* A file grew by bytes that no covered call wrote. */
    FAULT_SLOW_DISK, /* Real calls took longer than the model allows. */
    FAULT_OBJECTS,   /* There are more objects than the table holds. */
    FAULT_CLIENTS,   /* There are more clients than the model holds. */
    FAULT_HOSTS,     /* The job spans hosts, whose clocks are not shared. */
    FAULT_COUNT
};

/* The length of a file according to the charged calls, and the length that was found when it was closed. */
struct shared_file {
    uint64_t inode;
    int64_t accounted, seen;
    bool opened; /* True if the job has opened the file before. */
};

struct shared {
    uint32_t ready;
    char boot[40]; /* Boot id of the kernel, which changes at each start of the machine. */
    pthread_mutex_t lock;
    struct ost_params params;
    struct ost_state state;
    uint32_t faults; /* Faults of the run so far: a bit set of enum fault. */
    int64_t bytes_written, bytes_read;
    double modelled,
        excess; /* Seconds of all calls by the model, and seconds by which real calls exceeded them. */
    struct ost_object objects[OST_OBJECTS];
    struct shared_file files[OST_FILES];
};

/* Maps the state of job `job` below `mount`; the first process makes it from the configuration text.
 * Returns NULL, with a sentence in `problem`, on failure. */
struct shared *shared_open(const char *mount, const char *job, const char *config, char *problem,
                           size_t room);

void shared_lock(struct shared *shared);
void shared_unlock(struct shared *shared);

/* Returns the object of `file` on `target` and makes it if it is new; if the table is full, notes the
 * fault and returns NULL. */
struct ost_object *shared_object(struct shared *shared, uint64_t file, int target);

/* Returns the account of a file, which begins with the file's present `size` when the job first uses the
 * file. If the table is full, notes the fault and returns NULL. */
struct shared_file *shared_file(struct shared *shared, uint64_t inode, int64_t size);

/* Notes that the charged calls explain a length of the file of up to `end` bytes. `file` may be NULL. */
void shared_account(struct shared_file *file, int64_t end);

/* Writes the current accounts of the job to MOUNT/.ost/jobs/JOB.json. */
void shared_report(struct shared *shared, const char *mount, const char *job);

#endif
