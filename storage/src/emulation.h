/* One process's view of the emulated storage. The context and the table of open files are in descriptors.c,
 * the time that transfers take in charge.c. */
#ifndef OST_EMULATION_H
#define OST_EMULATION_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "layout.h"
#include "shared.h"

#define HERE ((off_t)-1) /* an offset: the call moved the descriptor's own position */

enum direction { OST_READ, OST_WRITE };

/* An open file below the mount point. Descriptors that were duplicated share one. */
struct ost_file {
    uint64_t inode;
    struct ost_layout layout;
    struct shared_file *books;
    _Atomic int descriptors;
    _Atomic bool written;
    off_t stream_position; /* how far a stdio stream was charged; -1 for a plain descriptor */
    bool stream_writes;
};

/* Set up once, when the library is loaded. */
struct emulation {
    bool on;
    bool as_lustre; /* statfs reports Lustre's magic number */
    pid_t pid;      /* a child of vfork still has its parent's: it must not touch the table of files */
    char mount[PATH_MAX];
    const char *job;
    int client;
    struct shared *shared;
};

extern struct emulation emulation;

/* Read the environment and follow the descriptors that were inherited; true when storage is emulated. When it
 * cannot be, that is said once on standard error. */
bool emulation_start(void);

/* Balance the books of what is still open, and write them down. Streams must have been flushed. */
void emulation_finish(void);

/* The file behind a descriptor, or NULL when it is not emulated. */
struct ost_file *emulation_find(int fd);

/* Follow a descriptor that was just opened, if it lies below the mount. */
void emulation_opened(int fd);
void emulation_duplicated(int from, int to);

/* A stdio stream reads or writes this descriptor from inside the C library: charge by its position from now
 * on. */
void emulation_streams(int fd);
bool emulation_has_streams(void);

/* Charge what is left, wait for the targets if close does, and forget the descriptor; call before the real
 * close. */
void emulation_closing(int fd);
void emulation_closing_range(unsigned first, unsigned last);

/* The program itself made the file at least `size` long: what lies below needs no charge. */
void emulation_size_set(int fd, off_t size);
void emulation_path_size_set(const char *path, off_t size);

/* A mapping of an emulated file makes the run invalid. */
void emulation_mapped(int fd);

/* The `lustre.lov` attribute of a descriptor or path: bytes, -ERANGE, or -1 when it is not below the mount.
 */
ssize_t emulation_layout(int fd, const char *path, void *value, size_t room);

/* Whether a descriptor or path is the mount point or lies below it. */
bool emulation_holds(int fd);
bool emulation_holds_path(const char *path);

/* Give the empty file or the directory behind a descriptor a layout. Returns 0, ENOTTY when it is not below
 * the mount, or EEXIST when the file has data. */
int emulation_set_layout(int fd, const struct ost_layout *layout);

/* Charge a transfer of `bytes` at `offset` that began at `began`. Negative or zero bytes cost nothing. */
void emulation_charge(int fd, enum direction direction, off_t offset, ssize_t bytes, double began);

/* Charge an asynchronous transfer when it is submitted; emulation_await waits for all of this thread's. */
void emulation_submit(int fd, enum direction direction, off_t offset, int64_t bytes);
void emulation_await(void);

/* Charge the bytes that a stream has moved since it was last charged. */
void emulation_charge_stream(int fd, double began);

/* The descriptor's position was set: no transfer. Streams must have been charged before. */
void emulation_moved(int fd);

/* Wait until what this process's client wrote to the file is on the targets; the real call began at `began`.
 */
void emulation_flush(int fd, double began);

/* Seconds on the clock that all processes share. */
double emulation_now(void);

#endif
