/* Every file of the process, by record id, with one state per module that has something to say about it. */
#ifndef IOLENS_REGISTRY_H
#define IOLENS_REGISTRY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../records/module.h"
#include "../system/spin.h"

struct file {
    uint64_t id;
    const char *path;
    struct file *in_bucket; /* next file with the same hash bucket */
    struct file *next;      /* next file in order of first use */
    _Atomic(void *) state[MODULE_COUNT];
    _Atomic(void *) tables; /* what process tables keep of it: see process_table.c */
    uint32_t skip;          /* bit m: module m leaves this file out */
    atomic_bool unstriped;  /* its file system knows no layouts */
    int32_t owner;   /* process whose registry this is in; a child of fork sees its parent's files too */
    uint32_t shared; /* bit m: every rank has a state of module m; known at the end */
    struct file *next_shared;
};

struct registry {
    struct spin lock;
    struct file **buckets; /* a power of two of them, more with more files */
    size_t bucket_count, files;
    struct file *first, **last;
    atomic_size_t used;                 /* states of real files: not of <STDIN> or heatmap:POSIX */
    atomic_size_t states[MODULE_COUNT]; /* of any file */
    struct file *shared;                /* chain of shared files, in the same order on all ranks */
    _Atomic uint32_t partial;           /* bit m: module m had to leave a file out */
    /* Numbers of ranks, known at the end: those on which a module had to leave a file out, and behind the
     * modules those that had no memory to write any record. */
    int64_t ranks_partial[MODULE_COUNT + 1];
};

enum { RANKS_WITHOUT_MEMORY = MODULE_COUNT };

extern struct registry iolens_registry;

/* The file of this absolute path, created when new; NULL when it is excluded or memory is short. */
struct file *registry_file(const char *absolute);

/* The file whose path is `real`, created when new; whether it is excluded is decided by the path that the
 * program used. */
struct file *registry_file_for(const char *real, const char *absolute);

/* The same file in this process's registry; NULL when memory is short. */
struct file *registry_own(struct file *file);

/* No files. */
void registry_reset(void);

/* Enter a file that was found in the spool of a process that is gone. False without memory. */
bool registry_adopt(struct file *file);

/* Bit m: module m had to leave something out. */
void registry_leave_out(uint32_t modules_left);

struct file *registry_find(uint64_t id);

/* Files with a state of the module in order of first use; NULL behind the last one. */
struct file *registry_first(enum module_index module);
struct file *registry_next(const struct file *file, enum module_index module);

/* A state of the module has been put into the file. */
void registry_count(const struct file *file, enum module_index module);

/* The module's state of the file, created when new. `fd` is an open descriptor of it or -1. NULL: out of
 * memory, or recording is switched off. */
void *registry_state(struct file *file, enum module_index module, int fd);

/* The same when the log is written, whether recording is switched off or not. */
void *registry_state_at_end(struct file *file, enum module_index module, int fd);

/* A state whose file is not known yet; NULL: switched off, or out of memory. */
void *registry_spare(enum module_index module);

/* Make it the state of its file, and return the file's: another one if it had one, NULL if it is left out. */
void *registry_install(struct file *file, enum module_index module, void *state);

#endif
