! Patterns like those of why_kinds.h in Fortran, with the module mpi_f08: `why_kinds PATTERN`.
program why_kinds
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  interface
    subroutine planted_delay(step) bind(C)
      import c_int
      integer(c_int), value :: step
    end subroutine
    subroutine work(milliseconds) bind(C)
      import c_int
      integer(c_int), value :: milliseconds
    end subroutine
  end interface
  integer, parameter :: large = 262144
  integer, asynchronous :: sent(large), received(4 * large)
  integer :: rank, ranks
  double precision :: began
  character(len=32) :: pattern
  type(MPI_Request) :: request, both(2)
  type(MPI_Comm) :: mine, other

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call get_command_argument(1, pattern)
  sent = rank
  call MPI_Barrier(MPI_COMM_WORLD)
  began = MPI_Wtime()
  select case (pattern)
  case ('fortran_ibcast_absent')
    call MPI_Ibcast(sent, large, MPI_INTEGER, 0, MPI_COMM_WORLD, request)
    if (rank == 2) call planted_delay(0)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    if (rank == 3) call work(1400)
  case ('fortran_persistent_halo')
    call MPI_Recv_init(received, 2, MPI_INTEGER, modulo(rank - 1, ranks), 1, MPI_COMM_WORLD, both(1))
    call MPI_Send_init(sent, 2, MPI_INTEGER, modulo(rank + 1, ranks), 1, MPI_COMM_WORLD, both(2))
    if (rank == 3) call planted_delay(0)
    call MPI_Startall(2, both)
    call MPI_Waitall(2, both, MPI_STATUSES_IGNORE)
    if (rank == 0) call work(600)
  case ('fortran_intercomm_reduce')
    call MPI_Comm_split(MPI_COMM_WORLD, modulo(rank, 2), rank, mine)
    call MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, 1 - modulo(rank, 2), 5, other)
    if (rank == 2) call planted_delay(0)
    call MPI_Allreduce(sent, received, 4, MPI_INTEGER, MPI_SUM, other)
    if (modulo(rank, 2) == 1) call work(500)
  case ('fortran_neighbour_grid')
    call MPI_Cart_create(MPI_COMM_WORLD, 2, [2, 2], [.true., .true.], .false., other)
    if (rank == 1) call planted_delay(0)
    call MPI_Neighbor_alltoall(sent, 100, MPI_INTEGER, received, 100, MPI_INTEGER, other)
    if (rank /= 1) call work(400)
  case default
    error stop 2
  end select
  print '(a, f12.6)', 'seconds ', MPI_Wtime() - began
  call MPI_Finalize()
end program
