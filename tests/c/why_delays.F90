! The patterns of why_delays.c in Fortran; with -DMPI_F08 through the module mpi_f08, else through mpif.h.
program why_delays
#ifdef MPI_F08
  use mpi_f08
#endif
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
#ifdef MPI_F08
  type(MPI_Comm) :: half
  type(MPI_Request) :: requests(2)
#else
  include 'mpif.h'
  integer :: half, requests(2)
#endif
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
  integer, parameter :: large = 65536
  integer :: rank, ranks, step, other, ierr, mine, total
  integer :: data(large), more(large)
  character(len=32) :: pattern

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, half, ierr)
  call get_command_argument(1, pattern)
  mine = rank
  do step = 0, 2
    select case (pattern)
    case ('late_sender')
      call work(20)
      if (rank == 0) then
        call planted_delay(step)
        call MPI_Send(data, 2, MPI_INTEGER, 1, step, MPI_COMM_WORLD, ierr)
      else if (rank == 1) then
        call MPI_Recv(data, 2, MPI_INTEGER, 0, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      end if
    case ('barrier')
      call work(20)
      if (rank == 2) call planted_delay(step)
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
    case ('late_root')
      call work(20)
      if (rank == 1) call planted_delay(step)
      call MPI_Bcast(data, large, MPI_INTEGER, 1, MPI_COMM_WORLD, ierr)
    case ('early_root')
      call work(20)
      if (rank == 3) call planted_delay(step)
      call MPI_Reduce(mine, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
      if (rank == 0) call work(20)
      call MPI_Bcast(data, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    case ('chain')
      if (rank == 0) then
        call planted_delay(step)
      else
        call MPI_Recv(data, 2, MPI_INTEGER, rank - 1, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      end if
      call work(20)
      if (rank + 1 < ranks) call MPI_Send(data, 2, MPI_INTEGER, rank + 1, step, MPI_COMM_WORLD, ierr)
    case ('late_receiver')
      call work(20)
      if (rank == 0) then
        call MPI_Ssend(data, 2, MPI_INTEGER, 1, step, MPI_COMM_WORLD, ierr)
        call work(20)
      else if (rank == 1) then
        call planted_delay(step)
        call MPI_Recv(data, 2, MPI_INTEGER, 0, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      end if
    case ('halo')
      call work(20)
      if (rank == 1) call planted_delay(step)
      call MPI_Irecv(more, large, MPI_INTEGER, mod(rank + ranks - 1, ranks), 0, MPI_COMM_WORLD, requests(1), ierr)
      call MPI_Isend(data, large, MPI_INTEGER, mod(rank + 1, ranks), 0, MPI_COMM_WORLD, requests(2), ierr)
      call work(10)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
    case ('hidden')
      if (rank == 3) then
        call planted_delay(step)
      else
        call work(800)
      end if
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
    case ('turns')
      call work(20)
      if (rank == step) call planted_delay(step)
      call MPI_Allreduce(mine, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    case ('halves')
      if (rank < 2) call work(100)
      if (rank == 3) call planted_delay(step)
      call MPI_Barrier(half, ierr)
    case ('workers')
      call work(20)
      if (rank == 2) call planted_delay(step)
      if (rank == 0) then
        do other = 1, ranks - 1
          call MPI_Recv(data, 2, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        end do
      else
        call MPI_Send(data, 2, MPI_INTEGER, 0, rank, MPI_COMM_WORLD, ierr)
      end if
      call MPI_Bcast(data, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    case ('partly_hidden')
      if (rank == 0) then
        call planted_delay(step)
      else
        call work(300)
      end if
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end select
  end do
  call MPI_Finalize(ierr)
end program
