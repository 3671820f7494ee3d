/* The facts in a log about a process besides its records: user, program, host. They are read from the
 * process itself, or from the spool of a process that has ended. */
#ifndef IOLENS_IDENTITY_H
#define IOLENS_IDENTITY_H

#include <stddef.h>
#include <stdint.h>

#include "../system/processor.h"
#include "command.h"
#include "mounts.h"

enum { COMPILER_BYTES = 512 };

/* Reads the program's file, before the program begins: it may watch its own file later (inotify), and would
 * see each time that the file is opened. Needs four short reads. */
void compiler_read(void);

/* Returns the distinct entries, each ended by a newline; "" if the file is no ELF file of this machine or has
 * no such section. Entries that do not fit are left out. */
const char *compiler_names(void);

enum { HOST_BYTES = 64, ENVIRONMENT_BYTES = 16384, MOUNTS_BYTES = 20480 };

struct identity {
    int64_t uid;
    char host[HOST_BYTES], user[USER_BYTES], program[PROGRAM_BYTES];
    char io_component[USER_BYTES];       /* Value of OMPI_MCA_io; "" if not set. */
    char command[COMMAND_BYTES];         /* Command line. */
    char compiler[COMPILER_BYTES];       /* Compilers of the program, one a line. */
    char mounts[MOUNTS_BYTES];           /* File systems, one a line (mounts.h). */
    char environment[ENVIRONMENT_BYTES]; /* Environment variables as a JSON object. */
    struct processor processor;
    uint64_t mount_ids; /* Checksum of the kernel's numbers of the mounts; 0 if the kernel does not tell them,
                         * or if `mounts` has no room for all of them. */
};

/* Reads the facts. `earlier` has the facts that the same process read before, or is NULL; facts that cannot
 * change are copied from it. If there is too little room for all mounts, those for which `is_first` returns
 * true are kept. */
void identity_read(struct identity *identity, const struct identity *earlier, mount_filter *is_first);

/* Returns a checksum of all facts; the room behind the end of a long text does not count. */
uint64_t identity_hash(const struct identity *identity);

/* The label that distinguishes a rank's program from those of other ranks: its name and, for an
 * interpreter, the script. */

/* Writes a label such as "ocean", "python train.py" or "python -m train", without folders; a longer label
 * is cut. */
void program_label(const struct identity *identity, char label[PROGRAM_BYTES]);

#endif
