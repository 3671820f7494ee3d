/* The functions and values by which the core knows a module, and the parts of the core's reduction that a
 * module may use. MODULES.md describes the table. */
#ifndef IOLENS_MODULE_H
#define IOLENS_MODULE_H

#include "shape.h"

enum module_index {
#define MODULE(name) MODULE_##name,
#include "../modules.def"
#undef MODULE
    MODULE_COUNT
};

struct area;
struct file;
struct iolens_transport;
struct timeline;

struct module {
    int id;           /* Darshan's module id, the slot in the log's header. */
    uint32_t version; /* Version of the record. */
    const char *name; /* Name of the module as Darshan spells it. */
    /* Size of the state of one file while recording; the state begins with the record if that has a fixed
     * size. */
    size_t state_bytes;
    const struct record_shape *shape; /* Shape of the record; NULL if records vary in size. */
    size_t row_bytes; /* Size of a row, if records vary in size and consist mostly of rows; else 0. */
    /* Name of the setting that bounds the module's memory; NULL: only IOLENS_MEMORY does. */
    const char *limit;
    bool per_rank; /* True if each rank writes records of its own, which are never merged. */
    /* Called when the settings have been read, from the environment or from a spool; may be NULL. */
    void (*start)(void);
    void (*reset)(void); /* Drops all pointers to records, which no longer exist; may be NULL. */
    void (*init)(void *state, struct file *file, int fd); /* Fills a zeroed state; may be NULL. */
    /* Returns true if the pointers and times of a state from a spool are plausible for this module; NULL if
     * its states have none. */
    bool (*validate)(const void *state, const struct area *area);
    /* Called when the process ends its recording, for work that only the process itself can do; may be
     * NULL. */
    void (*end)(void);
    /* Moves the values that are still in a file's state into the state of a pseudo file. Called once, before
     * all other hooks; may be NULL. */
    void (*flush)(const void *state);
    /* Collective, after all `flush`: exchanges what ranks need to know of one another for their records.
     * Skipped if `speaks` is false on all ranks; may be NULL. */
    bool (*speaks)(void);
    void (*agree)(const struct iolens_transport *transport);
    /* Converts to the job's clock those times of the state that the shape does not name. Called once, after
     * all calls of `flush`; may be NULL. */
    void (*correct)(void *state, const struct timeline *line);
    /* Returns true if a pseudo file is worth a log even if the process used no real file; NULL if it never
     * is. */
    bool (*matters)(const void *state, const struct file *file);
    /* Adds the most frequent values, which the state keeps apart, to a copy of the state's record; may be
     * NULL. */
    void (*finish)(const void *state, void *record);
    /* Copies the kept values of a list of most frequent values (shape_lists); NULL if the shape has no
     * lists. */
    void (*keep)(const void *state, int list, struct kept_values *kept);
    /* For records that vary in size: writes the log's form of `state` for `rank` and returns its bytes; with
     * a NULL buffer returns only the size. 0 means that there is no record. */
    size_t (*serialize)(const void *state, const struct file *file, int64_t rank, void *buffer);
};

extern const struct module *const modules[MODULE_COUNT];

#endif
