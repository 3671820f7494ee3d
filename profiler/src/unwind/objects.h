/* Where the unwind tables of loaded objects are, for a signal handler: without a lock and without memory. */
#ifndef IOLENS_UNWIND_OBJECTS_H
#define IOLENS_UNWIND_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

struct unwind_object {
    uintptr_t begin, end; /* of its mappings */
    uintptr_t header;     /* its segment PT_GNU_EH_FRAME: .eh_frame_hdr; 0: it has none */
};

/* To be called once, when the library is loaded. */
void unwind_objects_start(void);

/* The object that the address is in. Since glibc 2.35 it is asked (_dl_find_object, which may be called from
 * a signal handler); before that only objects are known that were there when the program began, because
 * those are never unloaded. */
bool unwind_object_at(uintptr_t address, struct unwind_object *object);

/* An object may be gone. The number of times that this was said tells whether what is known of an address may
 * be of another object than the one that is there now. */
void unwind_objects_unloaded(void);
unsigned unwind_objects_gone(void);

#endif
