/* The facts in a log about a process besides its records: user, program, host. They are read from the
 * process itself, or from the spool of a process that has ended. */
#ifndef IOLENS_IDENTITY_H
#define IOLENS_IDENTITY_H

#include "../system/processor.h"
#include "mounts.h"

/* The name and the command line of the program and the name of its user, as they were when the program began:
 * it may write a title over its arguments and its environment, as Perl's $0 and many servers do. */

/* Bytes of texts with their final NUL. A command and the mounts have what Darshan's 4 KiB leave behind the
 * job record. */
enum { USER_BYTES = 64, PROGRAM_BYTES = 256, COMMAND_BYTES = 3016 };

/* Cuts a command line to `bytes` bytes, of which the last ones are the mark "<TRUNCATED>". Does nothing to a
 * shorter one. */
void command_cut(char *command, size_t bytes);

/* Reads them when the library starts. Children of fork keep their parent's. */
void command_line_read(void);

/* Returns the program's name without its folder. */
const char *program_name(void);

/* Returns LOGNAME or USER; "" if neither can be a name. */
const char *user_name(void);

/* Returns the command line on one line, its words separated by spaces; a longer one ends with a mark. */
const char *command_line(void);

/* Writes the command line and then, for each file system, a newline, its type, a tab and its mount point:
 * first those for which `is_seen` returns true, then others while there is room. A command that leaves too
 * little room for the former is cut. `mounts` has the kept mounts (mounts.h); `extra` has further file
 * systems in the form type:folder,type:folder. Returns the number of bytes with the final NUL. */
size_t command_text(char text[COMMAND_BYTES], const char *command, const char *mounts, const char *extra,
                    mount_filter *is_seen);

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

enum { ANCESTORS = 8 };

/* `ancestors`: the number of the parent process, that of its parent, and so on up to the first process of the
 * node or namespace; 0 behind the last one. */
struct origin {
    int64_t pid, ancestors[ANCESTORS];
};

/* Reads the parent at the beginning of the process, because it may have ended later. */
void origin_begin(struct origin *origin);

/* Returns the parent of a process, or 0 if it is gone or hidden. */
int64_t origin_parent(int64_t pid);

/* Reads the other ancestors that still exist from /proc. */
void origin_follow(struct origin *origin);

/* Returns false if the launcher also started a process of this job, directly or through up to three shells,
 * that has loaded an MPI library but no adapter of this library. Returns true also if that cannot be found
 * out: /proc is hidden, the process is on another node, or MPI is linked statically. */
bool neighbours_are_recorded(void);

#endif
