/* The program and its libraries in memory: finds the object in which an address lies, and the place in its
 * file. An object stays known after it was unloaded. */
#ifndef IOLENS_OBJECTS_H
#define IOLENS_OBJECTS_H

#include <stdint.h>

#include "chain_table.h"

struct place {
    const struct chain_object *object; /* Object file that contains the address; NULL if unknown. */
    uint64_t offset; /* Virtual address in the object's file; the address itself if the object is unknown. */
};

/* Reads the list of loaded objects, if addresses are recorded. Only one thread at a time may do so, because
 * the loader holds its lock. */
void objects_look(void);

/* Called when an object may have been unloaded. */
void objects_unloaded(void);

/* Returns the present era of an address. The era ends when the object at the address is unloaded, because
 * another object may then be loaded there. May be called from a signal handler. */
uint32_t object_era(uint64_t address);

/* Returns the object that contains the address in this era, and the address in the object's file. */
struct place object_place(uint64_t address, uint32_t era);

/* Returns the number of programs and libraries that this process had or, while tables are collected, that all
 * ranks had together. */
int64_t objects_known(void);
int64_t objects_of_all(void);

#endif
