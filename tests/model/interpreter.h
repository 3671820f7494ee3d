/* Executes call lists (README.md) and keeps a journal of the calls and their results. The journal is the
 * model's only source; the interpreter knows neither counters nor profilers. */
#ifndef INTERPRETER_H
#define INTERPRETER_H

#include <stdint.h>
#include <stdio.h>

#include "../../profiler/src/system/system_call.h"

enum { SLOTS = 64, MAX_ARGS = 8 };

/* One word of a call: a number (constants such as O_CREAT included), a path with the program's prefix, or
 * text. */
struct arg {
    int64_t number;
    const char *text;
};

/* One call that was made; calllist.py names the same fields in the same order. */
struct entry {
    int32_t program;
    int32_t line;   /* Line of the program, from 0; -1: closed by the interpreter at the program's end. */
    int32_t op;     /* Index of the operation, in the order of `interpreter --ops`. */
    int32_t slot;   /* Slot on which the call was made; -1 if it has none. */
    int32_t thread; /* Number of the thread; 0 is the thread that started the program. */
    int32_t error;  /* Value of errno after the call; 0 if it succeeded. */
    int64_t result;
    int64_t begin, end; /* Times right before and after the call: CLOCK_MONOTONIC in ns. */
    int64_t fd;         /* Descriptor in the slot; -1 if there is none. */
    /* Position of the descriptor or stream before the call, from the kernel or ftell; else -1. */
    int64_t before;
    int64_t after; /* Position after the call. */
    /* Size of the descriptor's or stream's file after the call, or before a call that closes the stream; -1
     * without a file. */
    int64_t size;
    /* Other results, as each operation defines them; for streams [2] is the number of unwritten bytes (wide:
     * letters) in the buffer. */
    int64_t extra[3];
};

/* Effect of a call on a stream. Reading right after writing, or the reverse, is undefined without a call of
 * the kind TURNS between them; such calls are left out. */
enum way { STAYS, READS, WRITES, TURNS };

/* State that the calls of one program share. */
struct state {
    int32_t program;
    int fds[SLOTS];
    FILE *streams[SLOTS];
    enum way ways[SLOTS]; /* Latest kind of operation on each stream. */
    void *handles[SLOTS]; /* Handles of other interfaces, such as MPI files. */
    int output;           /* Copy of the standard output while descriptor 1 is another file; else negative. */
    int leaves;           /* True if the program's streams stay open until the process ends. */
};

/* Kind of object that an argument names. The journal adds other values to a call for each kind. */
enum on { ON_NOTHING, ON_FD, ON_STREAM, ON_HANDLE };

struct operation {
    const char *name;
    void (*run)(struct state *s, const struct arg *a, struct entry *e);
    enum on on; /* Kind of object in the slot. */
    int slot;   /* Number of the argument that names the slot. */
    enum way way;
};

/* Each of these tables ends with a row without a name. */
extern const struct operation posix_operations[];
extern const struct operation stdio_operations[];
extern const struct operation wide_operations[];
extern const struct operation mpi_operations[]; /* The table is empty if MPI was not compiled in. */

int64_t journal_now(void);

/* Returns the size of a descriptor's file in bytes, or -1 if there is none. */
int64_t size_of(int64_t fd);

/* Returns true if a stream uses this descriptor; calls that close it or open a second stream on it are
 * skipped. */
int stream_holds(const struct state *s, int fd);

/* Starts the process that executes the lines behind `child NUMBER`, by posix_spawn, or by fork and exec. The
 * descriptors in the slots `input` and `output` become its standard input and output (-1: those of this
 * process). Returns its exit status, or -1 if it did not start. */
int run_child(const struct state *s, int64_t number, int input, int output, int by_fork);

/* Asks for the position of every descriptor by recorded calls, because a child may have moved them. */
void ask_positions(struct state *s);

/* Notes in the journal each stream with unwritten bytes, and how many: the streams of this program (NULL: of
 * none), and those that earlier programs left open. After the call that flushed these streams, the second
 * function notes their positions. */
void note_streams(const char *operation, const struct state *s);
void note_positions(const char *operation);

/* Returns memory for transfers, `misalign` bytes after a multiple of 4096. Its pages are zero until they are
 * written to. */
char *transfer_buffer(int64_t misalign);

/* Makes the call between two readings of the clock. */
#define TIMED(e, call)                                                                                       \
    do {                                                                                                     \
        errno = 0;                                                                                           \
        (e)->begin = journal_now();                                                                          \
        (e)->result = (int64_t)(call);                                                                       \
        (e)->end = journal_now();                                                                            \
        (e)->error = errno;                                                                                  \
    } while (0)

/* Defines a call NAME STREAM ROOM that reads a line. Result: letters read, zeros of the file included, -1 for
 * none; extra: letters before the first zero. Memory that the call left untouched tells the zero that ends
 * the line from the zeros of the file. */
#define RUN_LINE(name, letter, fill, length)                                                                 \
    static void run_##name(struct state *s, const struct arg *a, struct entry *e)                            \
    {                                                                                                        \
        enum { UNTOUCHED = 0x5a };                                                                           \
        size_t room = (size_t)a[1].number;                                                                   \
        letter *text = malloc((room + 1) * sizeof *text), *got;                                              \
        fill(text, UNTOUCHED, room + 1);                                                                     \
        TIMED(e, (got = name(text, (int)room, s->streams[a[0].number])) != NULL);                            \
        while (got && room > 0 && text[room] == UNTOUCHED)                                                   \
            room--;                                                                                          \
        e->result = got ? (int64_t)room : -1;                                                                \
        e->extra[0] = got ? (int64_t)length(text) : 0;                                                       \
        free(text);                                                                                          \
    }

#endif
