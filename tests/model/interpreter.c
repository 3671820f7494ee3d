/*
 * interpreter CALLS JOURNAL      executes the programs in CALLS one after another, writes their journal
 * interpreter CALLS JOURNAL PROGRAM CHILD SLOT=DESCRIPTOR...   executes one child's part of one program
 * interpreter --ops              names the operations, one a line
 *
 * Files lie in the working directory. The interpreter's own work makes system calls without the C library, so
 * that no profiler sees it. */
#include "interpreter.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#ifdef WITH_MPI
#include <mpi.h>
#endif

enum { MAX_THREADS = 8, MAX_OPERATIONS = 400, MAX_LEFT = 20000 };

/* One line of a program. */
struct line {
    const struct operation *operation;
    int32_t op;
    int32_t thread;
    int child; /* Number of the child process; 0: the process in which every program begins. */
    struct arg args[MAX_ARGS];
};

struct program {
    int32_t id;
    int lines, threads; /* Number of threads besides the first. */
    struct line *line;
};

struct thread_part {
    struct program *program;
    struct state *state;
    int32_t thread;
};

struct constant {
    const char *name;
    int64_t value;
};

#define CONSTANT(name)                                                                                       \
    {                                                                                                        \
#name, name                                                                                          \
    }
static const struct constant constants[] = {
    CONSTANT(O_RDONLY),
    CONSTANT(O_WRONLY),
    CONSTANT(O_RDWR),
    CONSTANT(O_CREAT),
    CONSTANT(O_TRUNC),
    CONSTANT(O_APPEND),
    CONSTANT(O_EXCL),
    CONSTANT(O_CLOEXEC),
    CONSTANT(O_DIRECTORY),
    CONSTANT(O_SYNC),
    CONSTANT(O_NOFOLLOW),
    CONSTANT(O_TMPFILE),
    CONSTANT(O_PATH),
    CONSTANT(SEEK_SET),
    CONSTANT(SEEK_CUR),
    CONSTANT(SEEK_END),
    CONSTANT(SEEK_DATA),
    CONSTANT(SEEK_HOLE),
    CONSTANT(RWF_APPEND),
    CONSTANT(AT_SYMLINK_NOFOLLOW),
    CONSTANT(AT_REMOVEDIR),
    CONSTANT(AT_EMPTY_PATH),
    CONSTANT(RENAME_NOREPLACE),
    CONSTANT(RENAME_EXCHANGE),
    CONSTANT(FALLOC_FL_KEEP_SIZE),
#ifdef WITH_MPI
    CONSTANT(MPI_MODE_CREATE),
    CONSTANT(MPI_MODE_RDONLY),
    CONSTANT(MPI_MODE_WRONLY),
    CONSTANT(MPI_MODE_RDWR),
    CONSTANT(MPI_MODE_APPEND),
    CONSTANT(MPI_MODE_EXCL),
    CONSTANT(MPI_MODE_DELETE_ON_CLOSE),
    CONSTANT(MPI_MODE_UNIQUE_OPEN),
    CONSTANT(MPI_MODE_SEQUENTIAL),
    CONSTANT(MPI_SEEK_SET),
    CONSTANT(MPI_SEEK_CUR),
    CONSTANT(MPI_SEEK_END),
#endif
};

/* A stream that stays open until the process ends. */
struct left {
    int32_t program, slot;
    FILE *stream;
};

static struct left left[MAX_LEFT];
static int left_count;
static const struct operation *operations[MAX_OPERATIONS];
static int operation_count;
static struct entry *journal;
static int64_t journal_room;
static _Atomic int64_t journal_length;
static char *memory;
static char folder[4096];
static int rank, ranks = 1, own_child;
static char *const *arguments;

_Noreturn static void fail(const char *what, const char *which)
{
    dprintf(2, "interpreter: %s: %s\n", what, which);
    _exit(2);
}

int64_t journal_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

char *transfer_buffer(int64_t misalign) { return memory + misalign; }

/* ------------------------------------------------------------------ reading the call lists */

static void add_operations(const struct operation *table)
{
    for (; table->name; table++)
        operations[operation_count++] = table;
}

static int32_t operation_named(const char *name)
{
    for (int32_t i = 0; i < operation_count; i++)
        if (!strcmp(operations[i]->name, name))
            return i;
    fail("no such operation", name);
}

static int64_t constant_named(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (strlen(constants[i].name) == length && !strncmp(constants[i].name, name, length))
            return constants[i].value;
    fail("no such constant", name);
}

static int64_t flags(const char *word)
{
    int64_t value = 0;
    for (;;) {
        const char *end = strchrnul(word, '|');
        value |= constant_named(word, (size_t)(end - word));
        if (!*end)
            return value;
        word = end + 1;
    }
}

/* Returns the path that a word of a program means. @a: in the working directory, behind the program's number;
 * @/a: the same by its whole path; @./a and @../a: the same by a longer way; @-a: just a, for a path below a
 * descriptor's folder. */
static const char *path_of(int32_t program, const char *word)
{
    char path[3 * sizeof folder];
    const char *name = word + 1;
    if (*name == '-')
        return strdup(name + 1);
    if (*name == '/')
        snprintf(path, sizeof path, "%s/%d.%s", folder, program, name + 1);
    else if (!strncmp(name, "./", 2))
        snprintf(path, sizeof path, "./%d.%s", program, name + 2);
    else if (!strncmp(name, "../", 3))
        snprintf(path, sizeof path, "..//%s/%d.%s", strrchr(folder, '/') + 1, program, name + 3);
    else
        snprintf(path, sizeof path, "%d.%s", program, name);
    return strdup(path);
}

static struct arg arg_of(int32_t program, const char *word)
{
    if (*word == '@')
        return (struct arg){.text = path_of(program, word)};
    if ((*word >= '0' && *word <= '9') || *word == '-')
        return (struct arg){.number = strtoll(word, NULL, 0)};
    if ((*word == 'O' || *word == 'S' || *word == 'A' || *word == 'R' || *word == 'F' || *word == 'M') &&
        strchr(word, '_'))
        return (struct arg){.number = flags(word)};
    return (struct arg){.text = strdup(word)};
}

/* Returns true if the lines after `rank 0-2` or `rank 3` are for this rank. */
static int is_my_rank(const char *range)
{
    char *end;
    long first = strtol(range, &end, 10), last = first;
    if (*end == '-')
        last = strtol(end + 1, NULL, 10);
    return rank >= first && rank <= last;
}

static void add_line(struct program *p, int32_t thread, int child, char *word, char **rest)
{
    p->line = realloc(p->line, sizeof *p->line * (size_t)(p->lines + 1));
    if (!p->line)
        fail("out of memory", word);
    struct line *line = &p->line[p->lines];
    *line = (struct line){.op = operation_named(word), .thread = thread, .child = child};
    line->operation = operations[line->op];
    for (int i = 0; (word = strtok_r(NULL, " \n", rest)) && *word != '#'; i++) {
        if (i == MAX_ARGS)
            fail("too many words behind", line->operation->name);
        line->args[i] = arg_of(p->id, word);
    }
}

/* Lines for other ranks count in the numbering of lines, but are not executed here. */
static struct program *parse(char *text, int *count)
{
    struct program *programs = NULL, *p = NULL;
    int32_t thread = 0;
    int mine = 1, child = 0;
    for (char *next, *line = text; *line; line = next) {
        char *end = strchrnul(line, '\n'), *rest;
        next = *end ? end + 1 : end;
        *end = 0;
        char *word = strtok_r(line, " ", &rest);
        if (!word || *word == '#')
            continue;
        if (!strcmp(word, "program")) {
            programs = realloc(programs, sizeof *programs * (size_t)(*count + 1));
            if (!programs)
                fail("out of memory", word);
            p = &programs[(*count)++];
            *p = (struct program){.id = atoi(strtok_r(NULL, " ", &rest))};
            thread = child = 0;
            mine = 1;
        } else if (!p) {
            fail("a call before the first program", word);
        } else if (!strcmp(word, "thread")) {
            thread = atoi(strtok_r(NULL, " ", &rest));
            if (thread >= MAX_THREADS)
                fail("too many threads", "8 at most");
            p->threads = thread > p->threads ? thread : p->threads;
        } else if (!strcmp(word, "rank")) {
            mine = is_my_rank(strtok_r(NULL, " ", &rest));
        } else if (!strcmp(word, "child")) {
            child = atoi(strtok_r(NULL, " ", &rest));
        } else {
            add_line(p, thread, child, word, &rest);
            if (!mine)
                p->line[p->lines].operation = NULL;
            p->lines++;
        }
    }
    return programs;
}

/* ------------------------------------------------------------------ executing the call lists */

static int64_t position(const struct operation *o, const struct state *s, const struct entry *e)
{
    if (o->on == ON_FD && e->fd >= 0)
        return system_call(SYS_lseek, (int)e->fd, 0L, SEEK_CUR);
    if (o->on == ON_STREAM && s->streams[e->slot])
        return ftello(s->streams[e->slot]);
    return -1;
}

int64_t size_of(int64_t fd)
{
    struct stat st;
    return fd < 0 || system_call(SYS_fstat, (int)fd, &st) ? -1 : st.st_size;
}

static struct entry *new_entry(void)
{
    int64_t at = journal_length++;
    if (at >= journal_room)
        fail("journal full", "more calls than lines");
    return &journal[at];
}

/* Returns the bytes in the buffer of a stream, or the letters in the buffer of a wide stream. */
static int64_t held_bytes(FILE *f) { return (int64_t)__fpending(f); }

static void note_stream(const char *operation, int32_t program, int32_t slot, FILE *f)
{
    if (held_bytes(f) == 0)
        return;
    *new_entry() = (struct entry){.program = program,
                                  .line = -1,
                                  .op = operation_named(operation),
                                  .slot = slot,
                                  .fd = f->_fileno,
                                  .begin = journal_now(),
                                  .extra = {[2] = held_bytes(f)}};
}

void note_streams(const char *operation, const struct state *s)
{
    for (int i = 0; s && i < SLOTS; i++)
        if (s->streams[i])
            note_stream(operation, s->program, i, s->streams[i]);
    for (int i = 0; i < left_count; i++)
        note_stream(operation, left[i].program, left[i].slot, left[i].stream);
}

void note_positions(const char *operation)
{
    int32_t op = operation_named(operation);
    for (int64_t at = journal_length - 1; at >= 0; at--) {
        struct entry *e = &journal[at];
        if (e->op != op)
            return;
        e->after = system_call(SYS_lseek, (int)e->fd, 0L, SEEK_CUR);
        e->size = size_of(e->fd);
        e->end = journal_now();
    }
}

int stream_holds(const struct state *s, int fd)
{
    for (int i = 0; i < SLOTS; i++)
        if (s->streams[i] && s->streams[i]->_fileno == fd)
            return fd >= 0;
    return 0;
}

/* Returns true if the stream is open and the C standard defines this call after the earlier calls on it;
 * notes the call. */
static int may_stream(struct state *s, int slot, enum way way)
{
    enum { NO_READS = 0x4, NO_WRITES = 0x8 }; /* Bits in the flags of glibc's FILE. */
    FILE *f = s->streams[slot];
    if (!f || (way == READS && (f->_flags & NO_READS || s->ways[slot] == WRITES)))
        return 0;
    if (way == WRITES && (f->_flags & NO_WRITES || s->ways[slot] == READS))
        return 0;
    if (way != STAYS)
        s->ways[slot] = way;
    return 1;
}

static void run_line(struct state *s, const struct line *line, int32_t number)
{
    const struct operation *o = line->operation;
    struct entry call = {
        .program = s->program, .line = number, .op = line->op, .slot = -1, .fd = -1, .size = -1};
    call.thread = line->thread;
    if (o->on != ON_NOTHING) {
        call.slot = (int32_t)line->args[o->slot].number;
        if (call.slot < 0 || call.slot >= SLOTS)
            fail("no such slot for", o->name);
        if ((o->on == ON_STREAM && !may_stream(s, call.slot, o->way)) ||
            (o->on == ON_HANDLE && !s->handles[call.slot]))
            return; /* The program has no such open stream or handle; shortened lists can have such lines. */
        call.fd = o->on == ON_FD       ? s->fds[call.slot]
                  : o->on == ON_STREAM ? s->streams[call.slot]->_fileno
                                       : -1;
    }
    struct entry *e = new_entry();
    *e = call;
    e->before = position(o, s, e);
    o->run(s, line->args, e);
    e->after = position(o, s, e);
    if (o->on == ON_FD)
        e->size = size_of(e->fd);
    if (o->on == ON_STREAM && s->streams[e->slot]) {
        e->extra[2] = held_bytes(s->streams[e->slot]);
        e->size = e->size < 0 ? size_of(e->fd) : e->size;
    }
}

static void *run_thread(void *argument)
{
    struct thread_part *part = argument;
    for (int i = 0; i < part->program->lines; i++) {
        const struct line *line = &part->program->line[i];
        if (line->operation && line->thread == part->thread && line->child == own_child)
            run_line(part->state, line, i);
    }
    return NULL;
}

void ask_positions(struct state *s)
{
    struct line line = {.op = operation_named("lseek")};
    line.operation = operations[line.op];
    for (int slot = 0; slot < SLOTS; slot++) {
        line.args[0].number = slot;
        line.args[2].number = SEEK_CUR;
        if (s->fds[slot] >= 0 && !stream_holds(s, s->fds[slot]))
            run_line(s, &line, -1);
    }
}

/* Runs an operation that closes what a program left open. It is recorded like others, so that the next
 * program begins without open files.
 */
static void run_named(struct state *s, const char *operation)
{
    struct line line = {.op = operation_named(operation)};
    line.operation = operations[line.op];
    run_line(s, &line, -1);
}

static void close_rest(struct state *s)
{
    static int32_t op_close = -1, op_fclose, op_mpi_close = -1;
    if (s->output >= 0) {
        run_named(s, "print_flush");
        run_named(s, "stdout_back");
    }
    if (op_close < 0) {
        op_close = operation_named("close");
        op_fclose = operation_named("fclose");
        if (mpi_operations->name)
            op_mpi_close = operation_named("mpi_close");
    }
    for (int slot = 0; slot < SLOTS; slot++) {
        struct line line = {.args = {{.number = slot}}};
        line.op = op_mpi_close;
        if (s->handles[slot]) {
            line.operation = operations[line.op];
            run_line(s, &line, -1);
        }
        line.op = op_fclose;
        line.operation = operations[line.op];
        if (s->streams[slot] && s->leaves && ranks == 1 && left_count < MAX_LEFT)
            left[left_count++] = (struct left){s->program, slot, s->streams[slot]};
        else if (s->streams[slot])
            run_line(s, &line, -1);
        line.op = op_close;
        line.operation = operations[line.op];
        if (s->fds[slot] >= 0)
            run_line(s, &line, -1);
    }
}

/* Puts the files that the parent opened into the same slots of a child. */
static void inherit(struct state *s)
{
    for (int i = 5; own_child && arguments[i]; i++) {
        int slot = atoi(arguments[i]);
        struct line line = {.op = operation_named("inherits"), .args = {{.number = slot}}};
        s->fds[slot] = atoi(strchr(arguments[i], '=') + 1);
        line.operation = operations[line.op];
        run_line(s, &line, -1);
    }
}

static void run_program(struct program *p)
{
    struct state state = {.program = p->id, .output = -1};
    for (int i = 0; i < SLOTS; i++)
        state.fds[i] = -1;
    inherit(&state);
    struct thread_part parts[MAX_THREADS];
    pthread_t threads[MAX_THREADS];
    for (int t = 0; t <= p->threads; t++) {
        parts[t] = (struct thread_part){.program = p, .state = &state, .thread = t};
        if (t && pthread_create(&threads[t], NULL, run_thread, &parts[t]))
            fail("pthread_create", strerror(errno));
    }
    run_thread(&parts[0]);
    for (int t = 1; t <= p->threads; t++)
        pthread_join(threads[t], NULL);
    close_rest(&state);
}

/* ------------------------------------------------------------------ other processes */

enum { HANDED_MOST = 64, CHILD_INPUT = 62, CHILD_OUTPUT = 63, CHILD_ARGUMENTS = 5 };

extern char **environ;

static void hand_slot(char **words, int *n, int slot, int fd)
{
    if (asprintf(&words[(*n)++], "%d=%d", slot, fd) < 0)
        abort();
}

/* Writes SLOT=DESCRIPTOR for each descriptor that a child inherits, the lowest first: those below 64 that
 * exec does not close and that no stream uses. */
static void hand_over(const struct state *s, char **words, int input, int output)
{
    int n = 0;
    if (input >= 0)
        hand_slot(words, &n, CHILD_INPUT, STDIN_FILENO);
    if (output >= 0)
        hand_slot(words, &n, CHILD_OUTPUT, STDOUT_FILENO);
    for (int fd = STDERR_FILENO + 1; fd < HANDED_MOST; fd++)
        for (int i = 0; i < CHILD_INPUT; i++)
            if (s->fds[i] == fd && !stream_holds(s, fd) && system_call(SYS_fcntl, fd, F_GETFD) == 0)
                hand_slot(words, &n, i, fd);
}

static int start(char **words, int input, int output, int by_fork)
{
    int child = -1;
    if (by_fork) {
        child = fork();
        if (child == 0) {
            if ((input < 0 || dup2(input, STDIN_FILENO) >= 0) &&
                (output < 0 || dup2(output, STDOUT_FILENO) >= 0))
                execv("/proc/self/exe", words);
            _exit(127);
        }
        return child;
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (input >= 0)
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    if (output >= 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    int failed = posix_spawn(&child, "/proc/self/exe", &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failed ? -1 : child;
}

/* Runs a child of a program, with a journal and a log of its own, and returns its exit status. */
int run_child(const struct state *s, int64_t number, int input, int output, int by_fork)
{
    char journal_name[5000], log_name[5100], program[16], child[16];
    char *words[CHILD_ARGUMENTS + SLOTS + 1] = {arguments[0], arguments[1], journal_name, program, child};
    snprintf(journal_name, sizeof journal_name, "%s.child.%d.%d", arguments[2], s->program, (int)number);
    snprintf(log_name, sizeof log_name, "%s.log", journal_name);
    snprintf(program, sizeof program, "%d", s->program);
    snprintf(child, sizeof child, "%d", (int)number);
    hand_over(s, words + CHILD_ARGUMENTS, input, output);
    const char *before = getenv("IOLENS_LOGFILE");
    char *own = before ? strdup(before) : NULL;
    setenv("IOLENS_LOGFILE", log_name, 1);
    int pid = own_child ? -1 : start(words, input, output, by_fork), status = -1;
    if (own)
        setenv("IOLENS_LOGFILE", own, 1);
    free(own);
    if (pid > 0)
        system_call(SYS_wait4, pid, &status, 0L, NULL);
    return status;
}

/* ------------------------------------------------------------------ files of its own */

static char *read_all(const char *path)
{
    struct stat st;
    int fd = (int)system_call(SYS_openat, AT_FDCWD, path, O_RDONLY);
    if (fd < 0 || system_call(SYS_fstat, fd, &st))
        fail(path, strerror(errno));
    char *text = calloc(1, (size_t)st.st_size + 1);
    for (int64_t at = 0, n; text && at < st.st_size; at += n)
        if ((n = system_call(SYS_read, fd, text + at, (size_t)(st.st_size - at))) <= 0)
            fail(path, strerror(errno));
    system_call(SYS_close, fd);
    return text;
}

static void write_journal(const char *path)
{
    char name[4096];
    snprintf(name, sizeof name, ranks > 1 ? "%s.%d" : "%s", path, rank);
    int fd = (int)system_call(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const char *data = (const char *)journal;
    int64_t bytes = journal_length * (int64_t)sizeof *journal;
    for (int64_t at = 0, n; at < bytes; at += n)
        if ((n = system_call(SYS_write, fd, data + at, (size_t)(bytes - at))) <= 0)
            fail(name, strerror(errno));
    system_call(SYS_close, fd);
}

/* Writes the journal after the C library has flushed the streams, when none of the program's code runs any
 * more. A second process therefore reads the positions of the descriptors, which both share; it waits for the
 * end of this process by a pipe that is closed then. */
static void write_journal_at_exit(const char *path)
{
    int ends[2];
    char nothing;
    if (system_call(SYS_pipe2, ends, 0))
        fail("pipe2", strerror(errno));
    note_streams("exit", NULL);
    if (system_call(SYS_clone, SIGCHLD, 0L, 0L, 0L, 0L) != 0) {
        system_call(SYS_close, ends[0]);
        return;
    }
    system_call(SYS_close, ends[1]);
    while (system_call(SYS_read, ends[0], &nothing, 1L) > 0)
        ;
    note_positions("exit");
    write_journal(path);
    system_call(SYS_exit_group, 0);
}

static void *reserve(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        fail("mmap", strerror(errno));
    return p;
}

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    add_operations(posix_operations);
    add_operations(stdio_operations);
    add_operations(wide_operations);
    add_operations(mpi_operations);
    if (argc == 2 && !strcmp(argv[1], "--ops")) {
        for (int i = 0; i < operation_count; i++)
            printf("%s\n", operations[i]->name);
        return 0;
    }
    if (argc != 3 && argc < 5)
        fail("usage", "interpreter CALLS JOURNAL | interpreter --ops");
#ifdef WITH_MPI
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
#endif
    arguments = argv;
    own_child = argc > 4 ? atoi(argv[4]) : 0;
    if (!getcwd(folder, sizeof folder))
        fail("getcwd", strerror(errno));
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    memory = reserve((size_t)1 << 33);
    int count = 0;
    struct program *programs = parse(read_all(argv[1]), &count);
    for (int i = 0; i < count; i++)
        journal_room += (programs[i].lines + 2 * SLOTS) * (1 + SLOTS);
    journal = reserve((size_t)journal_room * sizeof *journal);
    for (int i = 0; i < count; i++)
        if (!own_child || programs[i].id == atoi(argv[3]))
            run_program(&programs[i]);
    if (left_count > 0)
        write_journal_at_exit(argv[2]);
    else
        write_journal(argv[2]);
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    return 0;
}
