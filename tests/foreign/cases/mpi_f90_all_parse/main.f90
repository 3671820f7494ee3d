! Each rank reads the same text file, or rank 0 reads it and broadcasts.
program main
  use mpi
  implicit none
  character(len=16) :: mode
  character(len=8) :: key
  integer, parameter :: n = 150000
  integer :: rank, error, i, a(n)
  real(8) :: b(n)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call get_command_argument(1, mode)
  if (mode /= 'twin' .or. rank == 0) then
    open(10, file='input.txt', status='old')
    do i = 1, n
      read(10, *) key, a(i), b(i)
    end do
    close(10)
  end if
  if (mode == 'twin') then
    call MPI_Bcast(a, n, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    call MPI_Bcast(b, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, error)
  end if
  if (rank == 0) print '(a,i16,f16.6)', 'sums', sum(int(a, 8)), sum(b)
  call MPI_Finalize(error)
end program main
