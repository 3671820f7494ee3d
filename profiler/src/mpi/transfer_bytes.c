#include "transfer_bytes.h"

#include "handles.h"
#include "links.h"

int64_t asked_bytes(MPI_Count count, MPI_Datatype type)
{
    MPI_Count size = 0;
    return pmpi.Type_size_x(type, &size) == MPI_SUCCESS ? (int64_t)count * (int64_t)size : -1;
}

int64_t moved_bytes(const MPI_Status *status, int64_t asked)
{
    MPI_Count bytes = -1;
    if (!status || pmpi.Get_elements_x(status, mpi.byte, &bytes) != MPI_SUCCESS || bytes < 0 || bytes > asked)
        return asked;
    return (int64_t)bytes;
}
