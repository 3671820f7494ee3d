! Each rank saves its field as text with a flush per line, or unformatted.
program main
  use mpi
  implicit none
  character(len=16) :: mode
  character(len=32) :: name
  integer, parameter :: n = 200000
  integer :: rank, error, i
  real(8) :: field(n)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call get_command_argument(1, mode)
  do i = 1, n
    field(i) = rank + i * 0.5d0
  end do
  write(name, '(a,i0)') 'field', rank
  if (mode == 'twin') then
    open(10, file=name, form='unformatted', access='stream')
    write(10) field
  else
    open(10, file=name)
    do i = 1, n
      write(10, '(f12.1)') field(i)
      flush(10)
    end do
  end if
  close(10)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  if (rank == 0) print '(a,f16.1)', 'sum', sum(field)
  call MPI_Finalize(error)
end program main
