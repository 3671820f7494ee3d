/* The functions and values by which the core knows a module, and the parts of the core's reduction that a
 * module may use. MODULES.md describes the table. */
#ifndef IOLENS_MODULE_H
#define IOLENS_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    int id;             /* Darshan's module id: the slot in the header */
    uint32_t version;   /* of the record */
    const char *name;   /* as Darshan spells it */
    size_t state_bytes; /* what is kept per file while recording; begins with the record if that is fixed */
    const struct record_shape *shape; /* of a fixed-size record; NULL when records vary in size */
    size_t row_bytes;    /* varying records that are mostly rows of one size: theirs; 0: they are not */
    const char *limit;   /* the setting that bounds its memory; NULL: IOLENS_MEMORY alone */
    bool per_rank;       /* records of ranks are never merged: each writes its own */
    void (*start)(void); /* the settings are read, by the program or from its spool; may be NULL */
    void (*reset)(void); /* forget what points to records: there are none yet; may be NULL */
    void (*init)(void *state, struct file *file, int fd); /* fill a zeroed state; may be NULL */
    /* Returns true if the pointers and times of a state from a spool can be this module's; NULL if the
     * state has none. */
    bool (*validate)(const void *state, const struct area *area);
    void (*end)(void); /* the process ends its recording: finish what only it can tell; may be NULL */
    /* Hand over what belongs into the state of a pseudo file, once, before all else; may be NULL. */
    void (*flush)(const void *state);
    /* Collective, after all `flush`: what ranks must know of one another for their records. NULL: nothing.
     * Left out when `speaks` is false on all ranks. */
    bool (*speaks)(void);
    void (*agree)(const struct iolens_transport *transport);
    /* Move what the shape does not name to the job's clock, once, after all `flush`; may be NULL. */
    void (*correct)(void *state, const struct timeline *line);
    /* Returns true if a pseudo file is worth a log even if the process used no real file; NULL if it never
     * is. */
    bool (*matters)(const void *state, const struct file *file);
    /* Fill what is still missing in a copy of the state's record; may be NULL. */
    void (*finish)(const void *state, void *record);
    /* Copies the kept values of a list of most frequent values (shape_lists); NULL if the shape has no
     * lists. */
    void (*keep)(const void *state, int list, struct kept_values *kept);
    /* Varying records: write the on-disk form of `state` for `rank` and return its bytes; NULL buffer: only
     * size. 0: there is no record. */
    size_t (*serialize)(const void *state, const struct file *file, int64_t rank, void *buffer);
};

extern const struct module *const modules[MODULE_COUNT];

#endif
