/* Who runs what, where: what a log says of the process besides its records. Read from the process itself, or
 * from the spool of one that is gone. */
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
    char io_component[USER_BYTES]; /* OMPI_MCA_io, "" when not set */
    char text[COMMAND_BYTES];      /* command line and mount table */
    size_t text_bytes;
    char compiler[COMPILER_BYTES];       /* of the program: lines */
    char mounts[MOUNTS_BYTES];           /* a JSON object */
    char environment[ENVIRONMENT_BYTES]; /* a JSON object */
    struct processor processor;
};

/* `mounts`: rows of the mount table that the system does not know, as in IOLENS_MOUNTS. */
void identity_read(struct identity *identity, const char *mounts);

/* A checksum of all of it. */
uint64_t identity_hash(const struct identity *identity);

#endif
