/* One process's view of the emulated storage. The context and the table of open files are in descriptors.c,
 * the time of transfers in charge.c. */
#ifndef OST_EMULATION_H
#define OST_EMULATION_H

#include <limits.h>
#include <pthread.h>

#include "layout.h"
#include "model.h"

/* State that all processes of a job share: the targets' clocks, the locks, and the accounts that are
 * balanced at the end. */

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

#define HERE ((off_t)-1) /* Stands for the descriptor's own position, which the call has moved. */

enum direction { OST_READ, OST_WRITE };

/* An open file below the mount point. Duplicated descriptors share it. */
struct ost_file {
    uint64_t inode;
    struct ost_layout layout;
    struct shared_file *books;
    _Atomic int descriptors;
    _Atomic bool written;
    off_t stream_position; /* Position up to which a stdio stream was charged; -1 for a plain descriptor. */
    bool stream_writes;
};

/* The context, set up once when the library is loaded. */
struct emulation {
    bool on;
    bool as_lustre; /* True if statfs is to report Lustre's magic number. */
    /* Number of the process that may change the table of files. A child of vfork, which shares its parent's
     * memory, has another number. */
    pid_t pid;
    char mount[PATH_MAX];
    const char *job;
    int client;
    struct shared *shared;
};

extern struct emulation emulation;

/* Reads the environment and registers inherited descriptors. Returns true if storage is emulated; prints
 * one message on standard error if it cannot be. */
bool emulation_start(void);

/* Balances the accounts of open files, and writes all accounts to a file. Streams must have been flushed. */
void emulation_finish(void);

/* Returns the file behind a descriptor, or NULL if it is not emulated. */
struct ost_file *emulation_find(int fd);

/* Does the same after asking the kernel whether the descriptor still belongs to this file: the program may
 * have closed it by a call that is not wrapped, and its number may belong to a pipe or another file by now.
 */
struct ost_file *emulation_current(int fd);

/* Registers a descriptor that was just opened, if it lies below the mount. */
void emulation_opened(int fd);
void emulation_duplicated(int from, int to);

/* Notes that a stdio stream reads or writes this descriptor inside the C library. From now on its transfers
 * are charged by the change of its position. */
void emulation_streams(int fd);
bool emulation_has_streams(void);

/* Charges the bytes that are not charged yet, waits for the targets if in the model a close does so, and
 * forgets the descriptor. Must be called before the real close. */
void emulation_closing(int fd);
void emulation_closing_range(unsigned first, unsigned last);

/* Notes that the program made the file at least `size` bytes long by a call such as truncate: no transfer
 * needs to be charged for these bytes. */
void emulation_size_set(int fd, off_t size);
void emulation_path_size_set(const char *path, off_t size);

/* Makes the run invalid, because an emulated file was mapped. */
void emulation_mapped(int fd);

/* Writes the `lustre.lov` attribute of a descriptor or path to `value`, and returns its bytes; -ERANGE if
 * `room` is too small, -1 if the file is not below the mount. */
ssize_t emulation_layout(int fd, const char *path, void *value, size_t room);

/* Returns true if a descriptor or path is the mount point or lies below it. */
bool emulation_holds(int fd);
bool emulation_holds_path(const char *path);

/* Gives a layout to the empty file or the directory behind a descriptor. Returns 0, ENOTTY if it is not
 * below the mount, or EEXIST if the file has data. */
int emulation_set_layout(int fd, const struct ost_layout *layout);

/* Charges a transfer of `bytes` at `offset` that began at `began`. Negative or zero bytes cost nothing. */
void emulation_charge(int fd, enum direction direction, off_t offset, ssize_t bytes, double began);

/* Charges the metadata server's work for an open, or for the creation of a file that is empty and new to the
 * job. */
void emulation_charge_open(struct ost_file *file);

/* Charges an asynchronous transfer when it is submitted; emulation_await waits for all such transfers of this
 * thread. */
void emulation_submit(int fd, enum direction direction, off_t offset, int64_t bytes);
void emulation_await(void);

/* Charges the bytes that a stream has moved since it was last charged. */
void emulation_charge_stream(int fd, double began);

/* Charges the bytes that an appending stream has moved so far, and notes that the bytes of its next flush
 * land at the end of the file. */
void emulation_appending(int fd, double began);

/* Notes that the descriptor's position was set, which is no transfer. Streams must have been charged
 * before. */
void emulation_moved(int fd);

/* Waits until all bytes that this process's client wrote to the file are on the emulated targets; `began` is
 * the time at which the real call began. */
void emulation_flush(int fd, double began);

/* Returns seconds on the clock that all processes share. */
double emulation_now(void);

/* The answers that ROMIO's own Lustre driver needs from a file system: two ioctls for the layout of a file
 * and, if it recognises file systems itself, the magic number of statfs. Numbers and structures are those
 * of Lustre's lustre_user.h. */

/* Answers LL_IOC_LOV_GETSTRIPE and LL_IOC_LOV_SETSTRIPE (struct lov_user_md_v1) for files below the mount.
 * Returns false for any other request or file system; the kernel must answer it. Else `result` is the return
 * value of ioctl, with errno EINVAL for another structure or an impossible layout, or EEXIST if the file has
 * data or is older than the job. The errno is EOVERFLOW if the caller has room for fewer stripes; it then
 * learns how many there are. */
bool lustre_ioctl(int fd, unsigned long request, void *argument, int *result);

/* Returns the `f_type` to report for a descriptor, or for `path` unless NULL: Lustre's below the mount if
 * the run asked for it (OST_AS_LUSTRE=1), else `real`. */
long lustre_magic(int fd, const char *path, long real);

#endif
