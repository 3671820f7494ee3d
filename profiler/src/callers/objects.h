/* The program and its libraries in memory: which of them an address lies in, and where in the file. What was
 * loaded once stays known, when it was there at a sign of life of the process or at its end. */
#ifndef IOLENS_OBJECTS_H
#define IOLENS_OBJECTS_H

#include <stdint.h>

#include "chain_table.h"

struct place {
    const struct chain_object *object; /* NULL: not known */
    uint64_t offset; /* virtual address in the object's file; the address itself when that is not known */
};

/* Look at what is loaded now; nothing where the process is gone. */
void objects_look(void);

struct place object_place(uint64_t address);

/* How many this process had, and, while tables are collected, all ranks together. */
int64_t objects_known(void);
int64_t objects_of_all(void);

#endif
