/* One process's view of the emulated storage. The context and the table of open files are in descriptors.c,
 * the time of transfers in charge.c. */
#ifndef OST_EMULATION_H
#define OST_EMULATION_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "layout.h"
#include "shared.h"

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

#endif
