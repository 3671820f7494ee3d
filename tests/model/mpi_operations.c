/* Calls of MPI-IO, one function each; the table at the end has their names in call lists. A file's calls are
 * made with items of one type: TYPE is its size, 1 (byte), 4 (int) or 8 (double). */
#include "interpreter.h"

#include <errno.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define RUN(name) static void run_mpi_##name(struct state *s, const struct arg *a, struct entry *e)

static MPI_File file_in(const struct state *s, struct arg a) { return *(MPI_File *)s->handles[a.number]; }

static MPI_Datatype type_of(struct arg a)
{
    return a.number == 4 ? MPI_INT : a.number == 8 ? MPI_DOUBLE : MPI_BYTE;
}

/* Returns an MPI_Info with a hint, or MPI_INFO_NULL. */
static MPI_Info info_of(struct arg given)
{
    MPI_Info info = MPI_INFO_NULL;
    if (given.number) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "cb_buffer_size", "65536");
    }
    return info;
}

static void free_info(MPI_Info info)
{
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
}

/* mpi_open SLOT world|self PATH AMODE HINTS: opens a file on MPI_COMM_WORLD or MPI_COMM_SELF into SLOT */
RUN(open)
{
    MPI_Comm comm = strcmp(a[1].text, "self") ? MPI_COMM_WORLD : MPI_COMM_SELF;
    MPI_Info info = info_of(a[4]);
    MPI_File *file = malloc(sizeof *file);
    if (!file)
        abort();
    TIMED(e, MPI_File_open(comm, a[2].text, (int)a[3].number, info, file));
    free_info(info);
    s->handles[a[0].number] = e->result == MPI_SUCCESS ? file : NULL;
}

/* mpi_close SLOT: closes the file in SLOT */
RUN(close)
{
    MPI_File *file = s->handles[a[0].number];
    TIMED(e, MPI_File_close(file));
    free(file);
    s->handles[a[0].number] = NULL;
}

/* mpi_set_view SLOT DISPLACEMENT TYPE HINTS: sets the view of the file in SLOT */
RUN(set_view)
{
    MPI_Info info = info_of(a[3]);
    TIMED(e, MPI_File_set_view(file_in(s, a[0]), a[1].number, type_of(a[2]), type_of(a[2]), "native", info));
    free_info(info);
}

/* mpi_sync SLOT; mpi_seek SLOT OFFSET WHENCE; mpi_set_size SLOT BYTES; mpi_preallocate SLOT BYTES: make the
 * MPI-IO call of this name on the file in SLOT */
RUN(sync) { TIMED(e, MPI_File_sync(file_in(s, a[0]))); }
RUN(seek) { TIMED(e, MPI_File_seek(file_in(s, a[0]), a[1].number, (int)a[2].number)); }
RUN(set_size) { TIMED(e, MPI_File_set_size(file_in(s, a[0]), a[1].number)); }
RUN(preallocate) { TIMED(e, MPI_File_preallocate(file_in(s, a[0]), a[1].number)); }

/* mpi_barrier: waits for all ranks in MPI_Barrier */
RUN(barrier)
{
    (void)s;
    (void)a;
    TIMED(e, MPI_Barrier(MPI_COMM_WORLD));
}

/* mpi_NAME SLOT ITEMS TYPE: moves ITEMS items of TYPE by the call NAME; the call that completes a split or
 * nonblocking one is not timed; extra: the bytes that the status tells */
#define RUN_MOVE(name, call, after)                                                                          \
    RUN(name)                                                                                                \
    {                                                                                                        \
        MPI_File file = file_in(s, a[0]);                                                                    \
        MPI_Status status;                                                                                   \
        MPI_Request request = MPI_REQUEST_NULL;                                                              \
        int items = (int)a[1].number;                                                                        \
        MPI_Datatype type = type_of(a[2]);                                                                   \
        MPI_Offset offset = a[3].number;                                                                     \
        char *memory = transfer_buffer(0);                                                                   \
        (void)offset;                                                                                        \
        TIMED(e, call);                                                                                      \
        after;                                                                                               \
        if (request != MPI_REQUEST_NULL)                                                                     \
            MPI_Wait(&request, &status);                                                                     \
        int moved = -1;                                                                                      \
        MPI_Get_elements(&status, MPI_BYTE, &moved);                                                         \
        e->extra[0] = moved;                                                                                 \
    }
#define HERE   file, memory, items, type
#define AT     file, offset, memory, items, type
#define NO_END (void)0
RUN_MOVE(read, MPI_File_read(HERE, &status), NO_END)
RUN_MOVE(write, MPI_File_write(HERE, &status), NO_END)
RUN_MOVE(read_all, MPI_File_read_all(HERE, &status), NO_END)
RUN_MOVE(write_all, MPI_File_write_all(HERE, &status), NO_END)
RUN_MOVE(iread, MPI_File_iread(HERE, &request), NO_END)
RUN_MOVE(iwrite, MPI_File_iwrite(HERE, &request), NO_END)
RUN_MOVE(read_all_split, MPI_File_read_all_begin(HERE), MPI_File_read_all_end(file, memory, &status))
RUN_MOVE(write_all_split, MPI_File_write_all_begin(HERE), MPI_File_write_all_end(file, memory, &status))
/* The following operations have the same arguments as those above, and then OFFSET. */
RUN_MOVE(read_at, MPI_File_read_at(AT, &status), NO_END)
RUN_MOVE(write_at, MPI_File_write_at(AT, &status), NO_END)
RUN_MOVE(read_at_all, MPI_File_read_at_all(AT, &status), NO_END)
RUN_MOVE(write_at_all, MPI_File_write_at_all(AT, &status), NO_END)
RUN_MOVE(iread_at, MPI_File_iread_at(AT, &request), NO_END)
RUN_MOVE(iwrite_at, MPI_File_iwrite_at(AT, &request), NO_END)
RUN_MOVE(read_at_all_split, MPI_File_read_at_all_begin(AT), MPI_File_read_at_all_end(file, memory, &status))
RUN_MOVE(write_at_all_split, MPI_File_write_at_all_begin(AT),
         MPI_File_write_at_all_end(file, memory, &status))

#define ROW(name_, on_)                                                                                      \
    {                                                                                                        \
        .name = "mpi_" #name_, .run = run_mpi_##name_, .on = on_                                             \
    }
const struct operation mpi_operations[] = {
    ROW(open, ON_NOTHING),
    ROW(close, ON_HANDLE),
    ROW(set_view, ON_HANDLE),
    ROW(sync, ON_HANDLE),
    ROW(seek, ON_HANDLE),
    ROW(set_size, ON_HANDLE),
    ROW(preallocate, ON_HANDLE),
    ROW(barrier, ON_NOTHING),
    ROW(read, ON_HANDLE),
    ROW(write, ON_HANDLE),
    ROW(read_all, ON_HANDLE),
    ROW(write_all, ON_HANDLE),
    ROW(iread, ON_HANDLE),
    ROW(iwrite, ON_HANDLE),
    ROW(read_all_split, ON_HANDLE),
    ROW(write_all_split, ON_HANDLE),
    ROW(read_at, ON_HANDLE),
    ROW(write_at, ON_HANDLE),
    ROW(read_at_all, ON_HANDLE),
    ROW(write_at_all, ON_HANDLE),
    ROW(iread_at, ON_HANDLE),
    ROW(iwrite_at, ON_HANDLE),
    ROW(read_at_all_split, ON_HANDLE),
    ROW(write_at_all_split, ON_HANDLE),
    {0},
};
