! Collective writes by each of Fortran's three ways to MPI (-DF08, -DMODULE, else mpif.h), and a file of Fortran's own.
! Usage: mpi_fortran FOLDER
program mpi_fortran
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
    type(MPI_File) :: file
#else
    integer :: file
#endif
    integer :: error, rank
    integer(kind=MPI_OFFSET_KIND) :: place
    double precision :: block(100)
    character(len=1000) :: folder

    call get_command_argument(1, folder)
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    block = rank
    call MPI_File_open(MPI_COMM_WORLD, trim(folder)//'/shared', ior(MPI_MODE_CREATE, MPI_MODE_RDWR), &
                       MPI_INFO_NULL, file, error)
    place = rank*800
    call MPI_File_write_at_all(file, place, block, 100, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, error)
    call MPI_File_read_at(file, place, block, 50, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, error)
    call MPI_File_close(file, error)
    if (rank == 0) then
        open (unit=10, file=trim(folder)//'/own.txt', status='replace')
        write (10, '(a)') 'nine char'
        close (10)
    end if
    call MPI_Finalize(error)
end program mpi_fortran
