/* The list of all files of the process, found by record id. Each file has one state for each module that
 * records it. */
#ifndef IOLENS_REGISTRY_H
#define IOLENS_REGISTRY_H

#include "../job/mounts.h"
#include "../records/module.h"
#include "../system/spin.h"

/* The mount on which a file lies, as the kernel told it when the file was open: its number, or the device
 * before Linux 5.8. A path alone does not tell: a file system may be mounted over the file later, or in
 * another mount namespace. */

struct place {
    int64_t mount;   /* Kernel's number of the mount; -1 if it numbers none, 0 if it was not asked. */
    uint64_t device; /* Device of the file, as in st_dev. */
};

/* Asks the kernel about an open descriptor. errno is preserved. */
void place_ask(struct place *place, int fd);

struct file {
    uint64_t id;
    const char *path;
    struct file *in_bucket; /* Next file in the same hash bucket. */
    struct file *next;      /* Next file in order of first use. */
    _Atomic(void *) state[MODULE_COUNT];
    /* List of the states that process tables keep for this file: see process_table.c. */
    _Atomic(void *) tables;
    uint32_t skip;         /* Bit m: module m does not record this file. */
    atomic_bool unstriped; /* True if the file system has no stripe layouts. */
    int32_t owner; /* Number of the process whose registry has this file; a child of fork also sees its
                      parent's files. */
    struct place place;
    uint32_t shared; /* Bit m: every rank has a state of module m; set when recording ends. */
    struct file *next_shared;
};

struct registry {
    struct spin lock;
    /* Hash buckets; their number is a power of two that grows with the number of files. */
    struct file **buckets;
    size_t bucket_count, files;
    struct file *first, **last;
    /* Number of states of real files; pseudo files such as <STDIN> or heatmap:POSIX do not count. */
    atomic_size_t used;
    /* Number of per-file states of each module; states of pseudo files count too. */
    atomic_size_t states[MODULE_COUNT];
    struct file *shared; /* First of the shared files, which are chained in the same order on all ranks. */
    _Atomic uint32_t partial; /* Bit m: module m could not record some file. */
    /* Counts of ranks, known at the end: for each module, the ranks on which it could not record some file.
       The last entry counts the ranks that had no memory to write any record. */
    int64_t ranks_partial[MODULE_COUNT + 1];
};

enum { RANKS_WITHOUT_MEMORY = MODULE_COUNT };

extern struct registry iolens_registry;

/* Returns the file of this absolute path and creates it if it is new; NULL if the file is excluded or memory
 * is short. */
struct file *registry_file(const char *absolute);

/* Returns the file whose resolved path is `real` and creates it if it is new. The path that the program used
 * decides whether the file is excluded. */
struct file *registry_file_for(const char *real, const char *absolute);

/* Returns this file's entry in the registry of this process; NULL if memory is short. */
struct file *registry_own(struct file *file);

/* Empties the registry. */
void registry_reset(void);

/* Adds a file from the spool of a process that has ended. Returns false without memory. */
bool registry_adopt(struct file *file);

/* Notes that each module whose bit is set could not record some file. */
void registry_leave_out(uint32_t modules_left);

/* Asks the kernel once on which mount a file lies. Does nothing if `fd` is negative or the file has no path.
 */
void registry_note_place(struct file *file, int fd);

struct file *registry_find(uint64_t id);

/* Iterates over the files with a state of the module, in order of first use; NULL behind the last one. */
struct file *registry_first(enum module_index module);
struct file *registry_next(const struct file *file, enum module_index module);

/* Counts a new state of a file. */
void registry_count(const struct file *file, enum module_index module);

/* Returns the module's state of the file and creates it if it is new. `fd` is an open descriptor of the file,
 * or -1. Returns NULL without memory, or while recording is switched off. */
void *registry_state(struct file *file, enum module_index module, int fd);

/* Returns the state while the log is written, even if recording is switched off. */
void *registry_state_at_end(struct file *file, enum module_index module, int fd);

/* Creates a state before its file is known; NULL without memory, or while recording is switched off. */
void *registry_spare(enum module_index module);

/* Attaches a state of registry_spare to its file, and returns the state that the file has now. That is an
 * earlier state if the file already had one, and NULL if the file is left out. */
void *registry_install(struct file *file, enum module_index module, void *state);

/* Collects the mounts of all files, for places_is_used. */
void places_gather(void);

/* Returns true if a file lies in this mount; a mount_filter. */
bool places_is_used(const struct mount *mount);

/* Finds the mount of a file among lines (mounts.h), and the mount that a reader takes who knows only the
 * path. Both are NULL in `folder.at` if there is none. Returns false if the kernel told nothing about the
 * file. */
bool places_find(const struct file *file, const char *lines, struct mount *own, struct mount *by_path);

#endif
