/* The facts in a log about a process besides its records: user, program, host. They are read from the
 * process itself, or from the spool of a process that has ended. */
#ifndef IOLENS_IDENTITY_H
#define IOLENS_IDENTITY_H

#include <stddef.h>
#include <stdint.h>

#include "../system/processor.h"

#include "command.h"

enum {
    HOST_BYTES = 64,
    USER_BYTES = 64,
    PROGRAM_BYTES = 256,
    ENVIRONMENT_BYTES = 16384,
    COMPILER_BYTES = 512,
    MOUNTS_BYTES = 8192
};

struct identity {
    int64_t uid;
    char host[HOST_BYTES], user[USER_BYTES], program[PROGRAM_BYTES];
    char io_component[USER_BYTES]; /* Value of OMPI_MCA_io; "" if not set. */
    char text[COMMAND_BYTES];      /* Command line and mount table. */
    size_t text_bytes;
    char compiler[COMPILER_BYTES];       /* Compilers of the program, one a line. */
    char mounts[MOUNTS_BYTES];           /* Mount options as a JSON object. */
    char environment[ENVIRONMENT_BYTES]; /* Environment variables as a JSON object. */
    struct processor processor;
    uint64_t mount_table; /* Checksum of the system's mount table. */
    uint64_t mount_ids;   /* Checksum of the kernel's numbers of the mounts; 0 if the kernel does not tell
                           * them. */
};

/* Reads the facts; `mounts` has rows of the mount table that the system does not know, as in IOLENS_MOUNTS.
 * `earlier` has the facts that the same process read before, or is NULL; facts that cannot change are copied
 * from it. */
void identity_read(struct identity *identity, const struct identity *earlier, const char *mounts);

/* Returns a checksum of all facts; the room behind the end of a long text does not count. */
uint64_t identity_hash(const struct identity *identity);

#endif
