/* The program and its libraries in memory: which of them an address lies in, and where in the file. What was
 * loaded once stays known, when it was there at a sign of life of the process or at its end. */
#ifndef IOLENS_OBJECTS_H
#define IOLENS_OBJECTS_H

#include <stdint.h>

struct place {
    int32_t object;  /* -1: not known */
    uint64_t offset; /* virtual address in the object's file; the address itself when that is not known */
};

/* Look at what is loaded now; nothing where the process is gone. */
void objects_look(void);

/* The object's row will be in the log. */
struct place object_place(uint64_t address);

#endif
