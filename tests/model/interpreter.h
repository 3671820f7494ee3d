/*
 * Executes call lists (README.md) and keeps a journal of what was called and what came back.
 *
 * The journal is the only witness that the model hears: nothing in here knows a counter or a profiler.
 */
#ifndef INTERPRETER_H
#define INTERPRETER_H

#include <stdint.h>
#include <stdio.h>

enum { SLOTS = 64, MAX_ARGS = 8 };

/* One word of a call: a number (constants such as O_CREAT included), a path with the program's prefix, or
 * text. */
struct arg {
    int64_t number;
    const char *text;
};

/* One call as it happened; journal.py names the same fields in the same order. */
struct entry {
    int32_t program;
    int32_t line;   /* of the program, from 0; -1: closed by the interpreter at the program's end */
    int32_t op;     /* index into the operations, in the order of `interpreter --ops` */
    int32_t slot;   /* that the call was made on, -1 when it has none */
    int32_t thread; /* 0 is the one that started the program */
    int32_t error;  /* errno after the call; 0 when it succeeded */
    int64_t result;
    int64_t begin, end; /* CLOCK_MONOTONIC, ns, right before and behind the call */
    int64_t fd;         /* descriptor behind the slot, -1 without one */
    int64_t before; /* position of the descriptor or stream before the call, as the kernel or ftell say; else
                       -1 */
    int64_t after;  /* the same behind it */
    int64_t size; /* of the descriptor's or stream's file behind it, before it where the stream is closed; -1
                     without a file */
    int64_t extra[3]; /* what else came back, see each operation; [2] of streams: bytes (wide: letters) left
                         in the buffer that are to be written */
};

/* Effect of a call on a stream; reading right after writing or the reverse is undefined without TURNS
 * between them, and left out. */
enum way { STAYS, READS, WRITES, TURNS };

/* State that the calls of one program share. */
struct state {
    int32_t program;
    int fds[SLOTS];
    FILE *streams[SLOTS];
    enum way ways[SLOTS]; /* of each stream: what was done last */
    void *handles[SLOTS]; /* of whatever else an interface opens, such as MPI files */
    int output;           /* the standard output, while descriptor 1 is another file; else -1 */
    int leaves;           /* its streams stay open until the process ends */
};

/* Kind of object that an argument names, which decides what the journal says besides the call. */
enum on { ON_NOTHING, ON_FD, ON_STREAM, ON_HANDLE };

struct operation {
    const char *name;
    void (*run)(struct state *s, const struct arg *a, struct entry *e);
    enum on on; /* kind of slot that `slot` counts in */
    int slot;   /* which argument names it */
    enum way way;
};

/* Each ends with a row without a name. */
extern const struct operation posix_operations[];
extern const struct operation stdio_operations[];
extern const struct operation wide_operations[];
extern const struct operation mpi_operations[]; /* empty where MPI was not compiled in */

int64_t journal_now(void);

/* Returns the size of a descriptor's file in bytes, or -1 if there is none. */
int64_t size_of(int64_t fd);

/* Returns true if a stream uses this descriptor; calls that close it or open a second stream on it are
 * skipped. */
int stream_holds(const struct state *s, int fd);

/* Start the process that executes the lines behind `child NUMBER`, with these two slots' descriptors as its
 * standard input and output (-1: as here), by posix_spawn or by fork and exec. Returns its exit status, -1 if
 * it did not start. */
int run_child(const struct state *s, int64_t number, int input, int output, int by_fork);

/* Ask for the position of every descriptor, by calls like any other: a child may have moved them. */
void ask_positions(struct state *s);

/* Note each stream that holds bytes, of this program (NULL: of none) and of those that left theirs open, with
 * how many; and behind the call that flushed them, where they stand. */
void note_streams(const char *operation, const struct state *s);
void note_positions(const char *operation);

/* Memory to read into and write from: `misalign` bytes behind a multiple of 4096. Zero pages until written
 * to. */
char *transfer_buffer(int64_t misalign);

/* The call alone, between two looks at the clock. */
#define TIMED(e, call)                                                                                       \
    do {                                                                                                     \
        errno = 0;                                                                                           \
        (e)->begin = journal_now();                                                                          \
        (e)->result = (int64_t)(call);                                                                       \
        (e)->end = journal_now();                                                                            \
        (e)->error = errno;                                                                                  \
    } while (0)

#endif
