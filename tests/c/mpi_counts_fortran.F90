! Calls of MPI by each of Fortran's three ways (-DF08, -DMODULE, else mpif.h), with Fortran's own constants in place of
! arguments. What must be counted of them on 2 ranks stands in the test.
program mpi_counts_fortran
#if defined(F08)
    use mpi_f08
#elif defined(MODULE)
    use mpi
#endif
    implicit none
#if !defined(F08) && !defined(MODULE)
    include 'mpif.h'
#endif
#if defined(F08)
    type(MPI_Request) :: request(2)
    type(MPI_Comm) :: copy
#else
    integer :: request(2), copy
#endif
    integer :: error, rank, other
    double precision :: block(100), sums(100)

    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    other = 1 - rank
    block = rank
    sums = 0
    if (rank == 0) then
        call MPI_Send(block, 100, MPI_DOUBLE_PRECISION, other, 1, MPI_COMM_WORLD, error)
    else
        call MPI_Recv(sums, 100, MPI_DOUBLE_PRECISION, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    end if
    call MPI_Irecv(sums, 100, MPI_DOUBLE_PRECISION, other, 2, MPI_COMM_WORLD, request(1), error)
    call MPI_Isend(block, 50, MPI_DOUBLE_PRECISION, other, 2, MPI_COMM_WORLD, request(2), error)
    call MPI_Waitall(2, request, MPI_STATUSES_IGNORE, error)
    call MPI_Allreduce(MPI_IN_PLACE, block, 10, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
    call MPI_Comm_dup(MPI_COMM_WORLD, copy, error)
    call MPI_Bcast(block, 3, MPI_DOUBLE_PRECISION, 1, copy, error)
    call MPI_Barrier(copy, error)
    call MPI_Comm_free(copy, error)
    call MPI_Finalize(error)
end program mpi_counts_fortran
