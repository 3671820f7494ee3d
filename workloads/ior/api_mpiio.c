/* MPIIO: MPI_File_{write,read}_at[_all] at explicit offsets, or through a file view. */
#include <stdlib.h>
#include <strings.h>

#include "api.h"

typedef struct Opened {
    MPI_File file;
    MPI_Datatype piece; /* Type of one transfer; MPI_DATATYPE_NULL without a view. */
} Opened;

static void show(const char *what, const Hints *hints)
{
    printf("\n%s {\n", what);
    for (int i = 0; i < hints->count; i++)
        printf("\t%s = %s\n", hints->list[i].key, hints->list[i].value);
    printf("}\n");
}

/* Sets a file view in which this task sees only its own blocks, one after the other. Offsets in the view are
 * numbers of transfers. */
static int set_view(Opened *opened, const Target *target)
{
    const Settings *s = target->settings;
    int per_block = (int)(s->block / s->transfer);
    int whole = per_block * target->sharers, first = per_block * target->place;
    MPI_Datatype blocks;
    int code = MPI_Type_contiguous((int)s->transfer, MPI_BYTE, &opened->piece);
    code = code == MPI_SUCCESS ? MPI_Type_commit(&opened->piece) : code;
    if (code == MPI_SUCCESS)
        code = MPI_Type_create_subarray(1, &whole, &per_block, &first, MPI_ORDER_C, opened->piece, &blocks);
    code = code == MPI_SUCCESS ? MPI_Type_commit(&blocks) : code;
    if (code == MPI_SUCCESS) {
        code = MPI_File_set_view(opened->file, 0, opened->piece, blocks, "native", MPI_INFO_NULL);
        MPI_Type_free(&blocks);
    }
    return code;
}

static void *mpiio_open(Target *target, Trouble *trouble)
{
    const Settings *s = target->settings;
    Opened *opened = allocate(1, sizeof *opened);
    int rank, mode = (target->writing ? MPI_MODE_CREATE | MPI_MODE_RDWR : MPI_MODE_RDONLY);
    MPI_Info info = hints_info(&s->hints);
    MPI_Comm_rank(target->comm, &rank);
    opened->file = MPI_FILE_NULL;
    opened->piece = MPI_DATATYPE_NULL;
    if (s->show_hints && rank == 0)
        show("hints passed to MPI_File_open()", &s->hints);
    int code = MPI_File_open(target->comm, target->path, mode | MPI_MODE_UNIQUE_OPEN, info, &opened->file);
    trouble_note_mpi(trouble, code, "cannot open", target->path);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    if (code != MPI_SUCCESS)
        return opened;
    hints_of_file(&target->effective, opened->file);
    if (s->show_hints && rank == 0)
        show("hints returned from opened file", &target->effective);
    if (s->preallocate && target->writing) {
        code = MPI_File_preallocate(opened->file, s->segments * s->block * target->sharers);
        trouble_note_mpi(trouble, code, "cannot preallocate", target->path);
    }
    if (s->view)
        trouble_note_mpi(trouble, set_view(opened, target), "cannot set the view of", target->path);
    return opened;
}

/* Translates an offset of the file into the offset in this task's view, which is a number of transfers. */
static MPI_Offset place_in_view(const Target *target, int64_t offset)
{
    const Settings *s = target->settings;
    int64_t segment = offset / (s->block * target->sharers);
    int64_t within = offset % (s->block * target->sharers) - target->place * s->block;
    return (segment * s->block + within) / s->transfer;
}

static int move_in_view(Opened *opened, const Target *target, char *buffer, int64_t bytes, int64_t offset,
                        MPI_Status *status)
{
    int count = (int)(bytes / target->settings->transfer);
    int code = MPI_File_seek(opened->file, place_in_view(target, offset), MPI_SEEK_SET);
    if (code != MPI_SUCCESS)
        return code;
    if (target->settings->collective)
        return target->writing ? MPI_File_write_all(opened->file, buffer, count, opened->piece, status)
                               : MPI_File_read_all(opened->file, buffer, count, opened->piece, status);
    return target->writing ? MPI_File_write(opened->file, buffer, count, opened->piece, status)
                           : MPI_File_read(opened->file, buffer, count, opened->piece, status);
}

static int move_at(MPI_File file, const Target *target, char *buffer, int bytes, int64_t offset,
                   MPI_Status *status)
{
    if (target->settings->collective)
        return target->writing ? MPI_File_write_at_all(file, offset, buffer, bytes, MPI_BYTE, status)
                               : MPI_File_read_at_all(file, offset, buffer, bytes, MPI_BYTE, status);
    return target->writing ? MPI_File_write_at(file, offset, buffer, bytes, MPI_BYTE, status)
                           : MPI_File_read_at(file, offset, buffer, bytes, MPI_BYTE, status);
}

static bool mpiio_transfer(void *file, const Target *target, char *buffer, int64_t bytes, int64_t offset,
                           Trouble *trouble)
{
    Opened *opened = file;
    MPI_Status status;
    int moved = 0;
    int code = target->settings->view ? move_in_view(opened, target, buffer, bytes, offset, &status)
                                      : move_at(opened->file, target, buffer, (int)bytes, offset, &status);
    trouble_note_mpi(trouble, code, target->writing ? "cannot write to" : "cannot read from", target->path);
    if (code != MPI_SUCCESS)
        return false;
    MPI_Get_count(&status, MPI_BYTE, &moved);
    if (moved != bytes)
        trouble_note(trouble, "%s at offset %lld of %s: %d of %lld bytes%s",
                     target->writing ? "write" : "read", (long long)offset, target->path, moved,
                     (long long)bytes, target->writing ? "" : ", the file ends there");
    return moved == bytes;
}

static void mpiio_sync(void *file, const Target *target, Trouble *trouble)
{
    trouble_note_mpi(trouble, MPI_File_sync(((Opened *)file)->file), "cannot flush", target->path);
}

static void mpiio_close(void *file, const Target *target, Trouble *trouble)
{
    Opened *opened = file;
    if (opened->piece != MPI_DATATYPE_NULL)
        MPI_Type_free(&opened->piece);
    if (opened->file != MPI_FILE_NULL)
        trouble_note_mpi(trouble, MPI_File_close(&opened->file), "cannot close", target->path);
    free(opened);
}

const Api API_MPIIO = {"MPIIO", true, mpiio_open, mpiio_transfer, mpiio_sync, mpiio_close, api_unlink};
