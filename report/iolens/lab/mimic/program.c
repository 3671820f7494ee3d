/* The I/O calls of a recorded run, made again: a table of phases, and the program that plays it.
 *
 *   mpicc -O2 -o mimic mimic.c && mpirun -np RANKS ./mimic [options]
 *
 *   --directory DIR  where the files go [.]
 *   --spin           compute while the recorded program computed, instead of sleeping
 *   --no-wait        leave out the recorded waiting
 *   --prepare        only make the files that the recorded run found, and end
 *
 * `iolens mimic` wrote this file. README.md beside it says what of the run it keeps. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* KINDS */

enum { FILE_NUMBER, OFFSET, LENGTH, DETAIL, VALUES, MOST_LOOPS = 32, MOST_OPEN = 64, PATH_BYTES = 4096 };

/* A value of the m-th rank of a program: base + m % period * inner + m / period * outer, or, where `list` is
 * not negative, lists[list + m]. */
struct number {
    long base, period, inner, outer, list;
};

/* A call, or a loop: the `body` steps that follow, `count` times. The values and the wait before the call
 * (ns) are places in `numbers`. From `stride` on, `strides` has for each enclosing loop, the outermost first,
 * what one turn adds to the values. */
struct step {
    enum kind kind;
    int count, body, value[VALUES], wait, stride;
};

/* Steps of the ranks that call alike. */
struct program {
    int first, steps;
};

/* The ranks first, first + stride, … of a program; the first of them is its member number `member`. */
struct members {
    int program, first, count, stride, member;
};

/* As many files in a row: bytes that they hold before the run (-1: they do not exist), and the permissions
 * with which they are created (0: none given). `aligned`: all memory was, and pieces of a view lie in memory
 * as that takes. */
struct files {
    long count, before, mode, aligned;
};

struct hint {
    long first_file, files;
    const char *key, *value;
};

/* Transfers of a file by a rank from memory that is not aligned. */
struct misaligned {
    long file, rank, transfers;
};

struct opening {
    int communicator, mode, hints;
};

/* Ranks first, first + stride, … of communicator number `communicator`. */
struct ranks {
    int communicator, first, count, stride;
};

/* A file view: from `first` on, `rows` rows of `pieces`. */
struct view {
    long displacement, extent;
    int first, rows;
};

struct pieces {
    long offset, length, count1, stride1, count2, stride2, count3, stride3;
};

/* TABLES */

struct open_file {
    int fd[MOST_OPEN], opened;
    FILE *stream;
    MPI_File shared;
    long known_size, misaligned;
    MPI_Request later;
    MPI_Datatype pieces; /* memory for one file type of the view */
    bool has_pieces;
};

static struct open_file *open_files[FILES];
static MPI_Comm communicators[COMMUNICATORS];
static char *memory;
static int rank, member;
static bool spin, no_wait;
static const char *directory = ".";
static double owed;

static void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "mimic: rank %d: ", rank);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, ": %s\n", errno ? strerror(errno) : "failed");
    va_end(arguments);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check(int code, const char *call)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code == MPI_SUCCESS)
        return;
    MPI_Error_string(code, text, &length);
    errno = 0;
    fail("%s: %s", call, text);
}

/* Keep calls that the recorded program did not make out of the log, if iolens records this run. */
static void record(int on)
{
    static void (*set)(int);
    static bool looked;
    if (!looked)
        *(void **)&set = dlsym(RTLD_DEFAULT, "iolens_record");
    looked = true;
    if (set)
        set(on);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Short waits are added up until a sleep can be as short; a sleep that took too long shortens the next. */
static void pause_for(double seconds)
{
    const double shortest = 1e-4;
    owed += no_wait ? 0 : seconds;
    if (owed < shortest)
        return;
    double begin = now();
    if (spin) {
        while (now() - begin < owed)
            ;
    } else {
        struct timespec time = {.tv_sec = (time_t)owed,
                                .tv_nsec = (long)((owed - (double)(time_t)owed) * 1e9)};
        nanosleep(&time, NULL);
    }
    owed -= now() - begin;
}

static long value_of(int number)
{
    const struct number *n = &numbers[number];
    return n->list >= 0 ? lists[n->list + member]
                        : n->base + member % n->period * n->inner + member / n->period * n->outer;
}

static const char *path_of(long file)
{
    static char paths[2][PATH_BYTES];
    static int which;
    which = !which;
#ifdef NAMED
    snprintf(paths[which], PATH_BYTES, "%s/%s", directory, names[file]);
#else
    snprintf(paths[which], PATH_BYTES, "%s/mimic.%06ld", directory, file);
#endif
    return paths[which];
}

static const struct files *facts_of(long file)
{
    const struct files *row = file_rows;
    for (; file >= row->count; row++)
        file -= row->count;
    return row;
}

static struct open_file *state_of(long file)
{
    if (!open_files[file]) {
        open_files[file] = calloc(1, sizeof **open_files);
        if (!open_files[file])
            fail("no memory for file %ld", file);
        open_files[file]->later = MPI_REQUEST_NULL;
        for (size_t i = 0; i < sizeof misaligned_rows / sizeof *misaligned_rows; i++)
            if (misaligned_rows[i].file == file && misaligned_rows[i].rank == rank)
                open_files[file]->misaligned = misaligned_rows[i].transfers;
    }
    return open_files[file];
}

/* Make an empty file, unrecorded. */
static void create_quietly(long file)
{
    record(0);
    int fd = open(path_of(file), O_RDWR | O_CREAT, 0600);
    if (fd >= 0)
        close(fd);
    record(1);
}

static int open_file(long file)
{
    long mode = facts_of(file)->mode;
    int fd = mode ? open(path_of(file), O_RDWR | O_CREAT, (mode_t)mode) : open(path_of(file), O_RDWR);
    if (fd < 0) {
        create_quietly(file);
        fd = mode ? open(path_of(file), O_RDWR | O_CREAT, (mode_t)mode) : open(path_of(file), O_RDWR);
    }
    if (fd < 0)
        fail("open %s", path_of(file));
    return fd;
}

static void keep(struct open_file *state, int fd)
{
    if (fd < 0 || state->opened == MOST_OPEN)
        fail("too many open files");
    state->fd[state->opened++] = fd;
}

/* A descriptor that was opened before recording began is opened unrecorded. */
static int descriptor_of(long file)
{
    struct open_file *state = state_of(file);
    if (!state->opened) {
        record(0);
        keep(state, open_file(file));
        record(1);
    }
    return state->fd[state->opened - 1];
}

static char *data_of(struct open_file *state)
{
    return memory + (state->misaligned > 0 && state->misaligned-- > 0);
}

/* Let a read find as many bytes as the recorded one did, unrecorded. */
static void need_size(struct open_file *state, int fd, long end)
{
    struct stat info;
    if (end <= state->known_size)
        return;
    record(0);
    if (fstat(fd, &info) != 0 || (info.st_size < end && pwrite(fd, "", 1, end - 1) != 1))
        fail("extend a file to %ld bytes", end);
    record(1);
    state->known_size = end > info.st_size ? end : info.st_size;
}

static void move(enum kind kind, const long *value)
{
    struct open_file *state = state_of(value[FILE_NUMBER]);
    int fd = descriptor_of(value[FILE_NUMBER]);
    size_t bytes = (size_t)value[LENGTH];
    char *data = data_of(state);
    if (kind == READ && bytes > 0)
        need_size(state, fd, value[OFFSET] + value[LENGTH]);
    ssize_t done =
        kind == READ ? pread(fd, data, bytes, value[OFFSET]) : pwrite(fd, data, bytes, value[OFFSET]);
    if (done != (ssize_t)bytes)
        fail("%s of %zu bytes at %ld in %s", kind == READ ? "read" : "write", bytes, value[OFFSET],
             path_of(value[FILE_NUMBER]));
}

static void close_one(long file)
{
    int fd = descriptor_of(file);
    state_of(file)->opened--;
    close(fd);
}

static void map_one(long file)
{
    void *place = mmap(NULL, 4096, PROT_READ, MAP_SHARED, descriptor_of(file), 0);
    if (place != MAP_FAILED)
        munmap(place, 4096);
}

static off_t size_of(const char *path)
{
    struct stat info;
    record(0);
    int code = stat(path, &info);
    record(1);
    return code == 0 ? info.st_size : 0;
}

/* Calls on a path, which must be there for the call to succeed. */
static int try_path(const struct step *step, const long *value)
{
    struct stat info;
    const char *path = path_of(value[FILE_NUMBER]);
    switch (step->kind) {
    case STAT:
        return stat(path, &info);
    case UNLINK:
        return unlink(path);
    case TRUNCATE:
        return truncate(path, size_of(path));
    default:
        return rename(path, path_of(value[DETAIL]));
    }
}

static void on_path(const struct step *step, const long *value)
{
    if (try_path(step, value) == 0)
        return;
    create_quietly(value[FILE_NUMBER]);
    if (try_path(step, value) != 0)
        fail("a call on %s", path_of(value[FILE_NUMBER]));
}

static void on_folder(enum kind kind, long file)
{
    const char *path = path_of(file);
    if ((kind == MAKE_FOLDER ? mkdir(path, 0755) : rmdir(path)) == 0)
        return;
    record(0);
    if (kind == MAKE_FOLDER)
        (void)(rmdir(path) == 0 || unlink(path) == 0);
    else
        mkdir(path, 0755);
    record(1);
    if ((kind == MAKE_FOLDER ? mkdir(path, 0755) : rmdir(path)) != 0)
        fail("a call on folder %s", path);
}

static FILE *stream_of(long file)
{
    struct open_file *state = state_of(file);
    if (!state->stream && !(state->stream = fopen(path_of(file), "r+"))) {
        create_quietly(file);
        state->stream = fopen(path_of(file), "r+");
    }
    if (!state->stream)
        fail("fopen %s", path_of(file));
    return state->stream;
}

static void on_stream(enum kind kind, const long *value)
{
    struct open_file *state = state_of(value[FILE_NUMBER]);
    if (kind == STREAM_OPEN && state->stream) {
        fclose(state->stream);
        state->stream = NULL;
    }
    FILE *stream = stream_of(value[FILE_NUMBER]);
    size_t bytes = (size_t)value[LENGTH];
    if (kind == STREAM_WRITE)
        (void)!fwrite(memory, 1, bytes, stream);
    else if (kind == STREAM_READ)
        (void)!fread(memory, 1, bytes, stream);
    else if (kind == STREAM_SEEK)
        fseek(stream, 0, SEEK_SET);
    else if (kind == STREAM_FLUSH)
        fflush(stream);
    else if (kind == FILENO)
        (void)fileno(stream);
    if (kind == STREAM_CLOSE) {
        fclose(stream);
        state->stream = NULL;
    }
}

static MPI_Info info_of(long file)
{
    MPI_Info info;
    MPI_Info_create(&info);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (hints[i].key && file >= hints[i].first_file && file < hints[i].first_file + hints[i].files)
            MPI_Info_set(info, (char *)hints[i].key, (char *)hints[i].value);
    return info;
}

static void mpi_open(const long *value)
{
    const struct opening *opening = &openings[value[DETAIL]];
    struct open_file *state = state_of(value[FILE_NUMBER]);
    MPI_Info info = opening->hints ? info_of(value[FILE_NUMBER]) : MPI_INFO_NULL;
    MPI_Comm comm = communicators[opening->communicator];
    int mode = opening->mode, code;
    char *path = (char *)path_of(value[FILE_NUMBER]);
    code = MPI_File_open(comm, path, mode, info, &state->shared);
    if (code != MPI_SUCCESS && mode & MPI_MODE_EXCL)
        code = MPI_File_open(comm, path, mode & ~MPI_MODE_EXCL, info, &state->shared);
    check(code, "MPI_File_open");
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
}

/* `count` pieces, `stride` bytes from begin to begin. */
static void repeat(MPI_Datatype *type, long count, long stride)
{
    MPI_Datatype inner = *type;
    if (count == 1)
        return;
    MPI_Type_create_hvector((int)count, 1, stride, inner, type);
    MPI_Type_free(&inner);
}

static long padded(long bytes) { return (bytes + 7) / 8 * 8; }

/* The pieces of a view, either where they lie in the file, or one behind the other in memory, each of them
 * aligned. */
static MPI_Datatype pieces_of(const struct view *view, bool in_memory)
{
    int ones[VIEW_ROWS];
    MPI_Datatype types[VIEW_ROWS], all, sized;
    MPI_Aint places[VIEW_ROWS], end = 0;
    for (int i = 0; i < view->rows; i++) {
        const struct pieces *p = &pieces[view->first + i];
        long first = padded(p->length), second = first * p->count1, third = second * p->count2;
        MPI_Type_contiguous((int)p->length, MPI_BYTE, &types[i]);
        repeat(&types[i], p->count1, in_memory ? first : p->stride1);
        repeat(&types[i], p->count2, in_memory ? second : p->stride2);
        repeat(&types[i], p->count3, in_memory ? third : p->stride3);
        places[i] = in_memory ? end : p->offset;
        end += third * p->count3;
        ones[i] = 1;
    }
    MPI_Type_create_struct(view->rows, ones, places, types, &all);
    MPI_Type_create_resized(all, 0, in_memory ? end : view->extent, &sized);
    MPI_Type_commit(&sized);
    MPI_Type_free(&all);
    for (int i = 0; i < view->rows; i++)
        MPI_Type_free(&types[i]);
    return sized;
}

static void forget_pieces(struct open_file *state)
{
    if (state->has_pieces)
        MPI_Type_free(&state->pieces);
    state->has_pieces = false;
}

static void mpi_view(const long *value)
{
    const struct view *view = &views[value[DETAIL]];
    struct open_file *state = state_of(value[FILE_NUMBER]);
    MPI_Datatype type = pieces_of(view, false);
    check(MPI_File_set_view(state->shared, view->displacement, MPI_BYTE, type, "native", MPI_INFO_NULL),
          "MPI_File_set_view");
    MPI_Type_free(&type);
    forget_pieces(state);
    state->has_pieces = facts_of(value[FILE_NUMBER])->aligned;
    if (state->has_pieces)
        state->pieces = pieces_of(view, true);
}

static void mpi_move(enum kind kind, const long *value)
{
    struct open_file *state = state_of(value[FILE_NUMBER]);
    MPI_File file = state->shared;
    MPI_Offset at = value[OFFSET];
    MPI_Datatype type = MPI_BYTE;
    int count = (int)value[LENGTH], bytes = 0, code = MPI_SUCCESS;
    if (state->has_pieces)
        MPI_Type_size(state->pieces, &bytes);
    if (count > 0 && at == 0 && bytes == count) {
        type = state->pieces;
        count = 1;
    }
    switch (kind) {
    case MPI_WRITE:
        code = MPI_File_write_at(file, at, memory, count, type, MPI_STATUS_IGNORE);
        break;
    case MPI_READ:
        code = MPI_File_read_at(file, at, memory, count, type, MPI_STATUS_IGNORE);
        break;
    case MPI_WRITE_ALL:
        code = MPI_File_write_at_all(file, at, memory, count, type, MPI_STATUS_IGNORE);
        break;
    case MPI_READ_ALL:
        code = MPI_File_read_at_all(file, at, memory, count, type, MPI_STATUS_IGNORE);
        break;
    case MPI_WRITE_SPLIT:
        code = MPI_File_write_at_all_begin(file, at, memory, count, type);
        check(MPI_File_write_at_all_end(file, memory, MPI_STATUS_IGNORE), "MPI_File_write_at_all_end");
        break;
    case MPI_READ_SPLIT:
        code = MPI_File_read_at_all_begin(file, at, memory, count, type);
        check(MPI_File_read_at_all_end(file, memory, MPI_STATUS_IGNORE), "MPI_File_read_at_all_end");
        break;
    default:
        MPI_Wait(&state->later, MPI_STATUS_IGNORE);
        code = kind == MPI_WRITE_LATER ? MPI_File_iwrite_at(file, at, memory, count, type, &state->later)
                                       : MPI_File_iread_at(file, at, memory, count, type, &state->later);
    }
    check(code, "a transfer of MPI-IO");
}

static void mpi_other(enum kind kind, const long *value)
{
    struct open_file *state = state_of(value[FILE_NUMBER]);
    MPI_Offset size = 0;
    MPI_Info info;
    switch (kind) {
    case MPI_CLOSE:
        MPI_Wait(&state->later, MPI_STATUS_IGNORE);
        check(MPI_File_close(&state->shared), "MPI_File_close");
        forget_pieces(state);
        break;
    case MPI_SYNC:
        MPI_Wait(&state->later, MPI_STATUS_IGNORE);
        check(MPI_File_sync(state->shared), "MPI_File_sync");
        break;
    case MPI_GET_SIZE:
        check(MPI_File_get_size(state->shared, &size), "MPI_File_get_size");
        break;
    case MPI_SET_SIZE:
        check(MPI_File_set_size(state->shared, value[LENGTH]), "MPI_File_set_size");
        break;
    default:
        info = info_of(value[FILE_NUMBER]);
        check(MPI_File_set_info(state->shared, info), "MPI_File_set_info");
        MPI_Info_free(&info);
    }
}

/* The number in a communicator of a rank of all ranks. */
static int rank_in(MPI_Comm comm, long world_rank)
{
    MPI_Group all, mine;
    int from = (int)(world_rank < 0 ? 0 : world_rank), found;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(comm, &mine);
    MPI_Group_translate_ranks(all, 1, &from, mine, &found);
    MPI_Group_free(&all);
    MPI_Group_free(&mine);
    return found == MPI_UNDEFINED ? 0 : found;
}

static void exchange(enum kind kind, const long *value)
{
    MPI_Comm comm = communicators[value[DETAIL]];
    int bytes = (int)value[LENGTH], root = rank_in(comm, value[OFFSET]);
    char *back = memory + LARGEST;
    switch (kind) {
    case BARRIER:
        MPI_Barrier(comm);
        break;
    case BCAST:
        MPI_Bcast(memory, bytes, MPI_BYTE, root, comm);
        break;
    case REDUCE:
        MPI_Reduce(memory, back, bytes, MPI_BYTE, MPI_BOR, root, comm);
        break;
    case ALLREDUCE:
        MPI_Allreduce(memory, back, bytes, MPI_BYTE, MPI_BOR, comm);
        break;
    case GATHER:
        MPI_Gather(memory, bytes, MPI_BYTE, back, bytes, MPI_BYTE, root, comm);
        break;
    case ALLGATHER:
        MPI_Allgather(memory, bytes, MPI_BYTE, back, bytes, MPI_BYTE, comm);
        break;
    case SCATTER:
        MPI_Scatter(memory, bytes, MPI_BYTE, back, bytes, MPI_BYTE, root, comm);
        break;
    default:
        MPI_Alltoall(memory, bytes, MPI_BYTE, back, bytes, MPI_BYTE, comm);
    }
}

static void on_descriptor(enum kind kind, long file)
{
    struct open_file *state = state_of(file);
    switch (kind) {
    case OPEN:
        keep(state, open_file(file));
        break;
    case DUP:
        keep(state, dup(descriptor_of(file)));
        break;
    case CLOSE:
        close_one(file);
        break;
    case FSYNC:
        fsync(descriptor_of(file));
        break;
    case FDATASYNC:
        fdatasync(descriptor_of(file));
        break;
    case SEEK:
        lseek(descriptor_of(file), 0, SEEK_CUR);
        break;
    default:
        map_one(file);
    }
}

static void perform(const struct step *step, const long *value)
{
    enum kind kind = step->kind;
    if (kind == READ || kind == WRITE)
        move(kind, value);
    else if (kind == FILENO || (kind >= STREAM_OPEN && kind <= STREAM_CLOSE))
        on_stream(kind, value);
    else if (kind >= OPEN && kind <= MAP)
        kind == STAT ? on_path(step, value) : on_descriptor(kind, value[FILE_NUMBER]);
    else if (kind == MAKE_FOLDER || kind == REMOVE_FOLDER)
        on_folder(kind, value[FILE_NUMBER]);
    else if (kind >= UNLINK && kind <= TRUNCATE)
        on_path(step, value);
    else if (kind == MPI_OPEN)
        mpi_open(value);
    else if (kind == MPI_VIEW)
        mpi_view(value);
    else if (kind >= MPI_WRITE && kind <= MPI_READ_LATER)
        mpi_move(kind, value);
    else if (kind >= MPI_CLOSE && kind <= MPI_INFO)
        mpi_other(kind, value);
    else if (kind >= BARRIER)
        exchange(kind, value);
}

static void play(const struct step *step, int count, long *turn, int depth)
{
    for (const struct step *end = step + count; step < end; step++) {
        if (step->kind == LOOP) {
            for (turn[depth] = 0; turn[depth] < step->count; turn[depth]++)
                play(step + 1, step->body, turn, depth + 1);
            step += step->body;
            continue;
        }
        long value[VALUES];
        for (int i = 0; i < VALUES; i++) {
            value[i] = value_of(step->value[i]);
            for (int loop = 0; loop < depth; loop++)
                value[i] += turn[loop] * value_of(strides[step->stride + loop][i]);
        }
        pause_for(1e-9 * (double)value_of(step->wait));
        perform(step, value);
    }
}

static void make_communicators(void)
{
    MPI_Group all;
    int *those = malloc((size_t)RANKS * sizeof *those);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    communicators[0] = MPI_COMM_WORLD;
    communicators[1] = MPI_COMM_SELF;
    for (int i = 2; i < COMMUNICATORS && those; i++) {
        int count = 0, mine = 0;
        for (size_t row = 0; row < sizeof rank_rows / sizeof *rank_rows; row++)
            for (int j = 0; rank_rows[row].communicator == i && j < rank_rows[row].count; j++) {
                those[count++] = rank_rows[row].first + j * rank_rows[row].stride;
                mine |= those[count - 1] == rank;
            }
        if (mine) {
            MPI_Group group;
            MPI_Group_incl(all, count, those, &group);
            MPI_Comm_create_group(MPI_COMM_WORLD, group, i, &communicators[i]);
            MPI_Group_free(&group);
        }
    }
    MPI_Group_free(&all);
    free(those);
}

/* Make the files that the recorded program found, and remove those that it did not; each rank some of them.
 */
static void prepare(int size)
{
    for (long file = rank; file < FILES; file += size) {
        long before = facts_of(file)->before;
        const char *path = path_of(file);
        if (unlink(path) != 0 && errno != ENOENT)
            (void)rmdir(path);
        int fd = before >= 0 ? open(path, O_RDWR | O_CREAT, 0600) : -1;
        if (before >= 0 && fd < 0)
            fail("make %s", path);
        for (long done = 0; done < before;) {
            long part = before - done < LARGEST ? before - done : LARGEST;
            if (pwrite(fd, memory, (size_t)part, done) != part)
                fail("fill %s", path);
            done += part;
        }
        if (fd >= 0)
            close(fd);
    }
}

static struct program find_program(void)
{
    for (size_t i = 0; i < sizeof member_rows / sizeof *member_rows; i++) {
        const struct members *row = &member_rows[i];
        int beyond = rank - row->first;
        if (beyond >= 0 && beyond % row->stride == 0 && beyond / row->stride < row->count) {
            member = row->member + beyond / row->stride;
            return programs[row->program];
        }
    }
    return (struct program){0, 0};
}

static bool read_options(int count, char **words)
{
    bool only_prepare = false;
    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "--directory") == 0 && i + 1 < count)
            directory = words[++i];
        else if (strcmp(words[i], "--spin") == 0)
            spin = true;
        else if (strcmp(words[i], "--no-wait") == 0)
            no_wait = true;
        else if (strcmp(words[i], "--prepare") == 0)
            only_prepare = true;
        else {
            fprintf(stderr, "usage: mimic [--directory DIR] [--spin] [--no-wait] [--prepare]\n");
            exit(2);
        }
    }
    return only_prepare;
}

int main(int count, char **words)
{
    int size;
    long turn[MOST_LOOPS];
    bool only_prepare = read_options(count, words);
    MPI_Init(&count, &words);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (size != RANKS) {
        if (rank == 0)
            fprintf(stderr, "mimic: the recorded run had %d ranks: mpirun -np %d %s\n", RANKS, RANKS,
                    words[0]);
        MPI_Finalize();
        return 2;
    }
    record(0);
    memory = aligned_alloc(4096, ((size_t)(LARGEST + ROOM) / 4096 + 2) * 4096);
    if (!memory)
        fail("no memory for %ld bytes", LARGEST);
    for (size_t i = 0; i < (size_t)LARGEST + 1; i++)
        memory[i] = (char)(i * 2654435761U >> 13);
    make_communicators();
    prepare(size);
    MPI_Barrier(MPI_COMM_WORLD);
    record(1);
    struct program program = find_program();
    if (!only_prepare)
        play(steps + program.first, program.steps, turn, 0);
    MPI_Finalize();
    return 0;
}
