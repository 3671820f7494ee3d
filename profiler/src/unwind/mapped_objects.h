/* Finds the unwind tables of loaded objects in a signal handler, without a lock and without memory. */
#ifndef IOLENS_UNWIND_OBJECTS_H
#define IOLENS_UNWIND_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

struct unwind_object {
    uintptr_t begin, end; /* Range of the object's mappings. */
    uintptr_t header;     /* Address of its segment PT_GNU_EH_FRAME (.eh_frame_hdr); 0 if it has none. */
};

/* Prepares the search; called once, when the library is loaded. */
void unwind_objects_start(void);

/* Finds the object that contains the address. Since glibc 2.35 the loader is asked (_dl_find_object, which
 * a signal handler may call). With older versions only objects that were loaded at the program's start are
 * known, because these are never unloaded. */
bool unwind_object_at(uintptr_t address, struct unwind_object *object);

/* The first function notes that an object may have been unloaded; the second returns the number of these
 * notes. If that number has grown, remembered facts about an address may belong to an earlier object. */
void unwind_objects_unloaded(void);
unsigned unwind_objects_gone(void);

#endif
