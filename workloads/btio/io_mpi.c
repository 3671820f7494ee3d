#include "store.h"

void mpi_open(Store *store, bool writing, MPI_Datatype etype, MPI_Datatype view)
{
    int mode = writing ? MPI_MODE_RDWR | MPI_MODE_CREATE : MPI_MODE_RDONLY;
    int code = MPI_File_open(store->domain->comm, store->path, mode, store->info, &store->file);
    trouble_note_mpi(&store->trouble, code, "cannot open", store->path);
    if (code != MPI_SUCCESS)
        return;
    code = MPI_File_set_view(store->file, 0, etype, view, "native", store->info);
    trouble_note_mpi(&store->trouble, code, "cannot set the view of", store->path);
    if (writing)
        hints_of_file(&store->effective, store->file);
}

void mpi_moved(Store *store, int code, const MPI_Status *status, MPI_Datatype type, int wanted,
               const char *verb)
{
    int moved = wanted;
    char what[64];
    store->calls++;
    if (store->trouble.any)
        return;
    snprintf(what, sizeof what, "cannot %s", verb);
    trouble_note_mpi(&store->trouble, code, what, store->path);
    if (code == MPI_SUCCESS)
        MPI_Get_count(status, type, &moved);
    if (moved != wanted)
        trouble_note(&store->trouble, "short %s: %d of %d items of %s", verb, moved, wanted, store->path);
    if (store->trouble.any)
        trouble_add_space(&store->trouble, store->path);
}

void mpi_close(Store *store)
{
    if (store->file == MPI_FILE_NULL)
        return;
    if (store->flush)
        trouble_note_mpi(&store->trouble, MPI_File_sync(store->file), "cannot flush", store->path);
    trouble_note_mpi(&store->trouble, MPI_File_close(&store->file), "cannot close", store->path);
}
