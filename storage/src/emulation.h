/* One process's view of the emulated storage: its open files, its place in time, and the charge of every
 * transfer. */
#ifndef OST_EMULATION_H
#define OST_EMULATION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "layout.h"
#include "shared.h"

enum direction { OST_READ, OST_WRITE };

/* An open file below the mount point. Descriptors that were duplicated share one. */
struct ost_file {
    uint64_t inode;
    struct ost_layout layout;
    _Atomic int descriptors;
    _Atomic bool written;
    _Atomic int64_t
        accounted;         /* bytes from the start of the file that are known to have been charged or set */
    off_t stream_position; /* where a stdio stream was charged up to; -1 for a plain descriptor */
    bool stream_writes;
};

/* The file behind a descriptor, or NULL when it is not emulated. */
struct ost_file *emulation_find(int fd);

/* True when the environment asks for emulation and it could be set up; said once on standard error when not.
 */
bool emulation_on(void);

/* Follow a descriptor that was just opened, if it lies below the mount. `fresh`: the file did not exist
 * before. */
struct ost_file *emulation_opened(int fd, bool fresh);
void emulation_duplicated(int from, int to);

/* Balance a descriptor's books and forget it; call before the real close, then wait with emulation_settle. */
void emulation_closing(int fd);

/* Charge a transfer of `bytes` at `offset` that began at `began`. Negative or zero bytes cost nothing. */
void emulation_charge(int fd, enum direction direction, off_t offset, ssize_t bytes, double began);

/* Charge an asynchronous transfer when it is submitted; emulation_await waits for all of this thread's. */
void emulation_submit(int fd, enum direction direction, off_t offset, int64_t bytes);
void emulation_await(void);

/* The same for the bytes that a stdio stream has moved since it was last charged. */
void emulation_charge_stream(int fd, double began);

/* The file's size was set by the program: what lies below counts as accounted for. */
void emulation_size_set(int fd, off_t size);

/* A writable shared mapping makes the run invalid. */
void emulation_mapped(int fd, bool writable);

/* Wait until what this process wrote is on the targets. */
void emulation_flush(void);

/* Wait until the calls charged so far would have returned. */
void emulation_settle(void);

/* Seconds on the clock that all processes share. */
double emulation_now(void);

/* The `lustre.lov` attribute of a descriptor or path: bytes, or -1 when it is not below the mount. */
ssize_t emulation_layout(int fd, const char *path, void *value, size_t room);

#endif
