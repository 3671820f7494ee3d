! A halo exchange with mpi_f08 on a periodic grid of ranks, as a foreign program does it, with collective I/O: rounds of
! exchange, smoothing, and a global norm, then one collective write of the whole grid and its read back. The phases are
! marked. Rank 0 prints what must have been counted of each rank, and each rank its largest resident set after MPI_Finalize.
!   halo_f08 FILE ROUNDS [CELLS [abort]]     CELLS x CELLS a rank [64]; abort: in place of MPI_Finalize
program halo_f08
  use mpi_f08
  use iolens
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: exchange = 1, smooth = 2, output = 3
  integer :: cells, rounds, round, rank, ranks, dims(2)
  integer :: west, east, south, north
  character(len=512) :: path
  real(real64), allocatable :: grid(:, :), next(:, :), back(:, :)
  real(real64) :: norm
  type(MPI_Comm) :: torus
  type(MPI_Datatype) :: row, mine

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call get_command_argument(1, path)
  rounds = argument(2, 10)
  cells = argument(3, 64)
  allocate(grid(0:cells + 1, 0:cells + 1), next(0:cells + 1, 0:cells + 1), back(cells, cells))
  grid = rank + 1
  dims = 0
  call MPI_Dims_create(ranks, 2, dims)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .true.], .false., torus)
  call MPI_Cart_shift(torus, 0, 1, west, east)
  call MPI_Cart_shift(torus, 1, 1, south, north)
  call MPI_Type_vector(cells, 1, cells + 2, MPI_DOUBLE_PRECISION, row)
  call MPI_Type_commit(row)
  do round = 1, rounds
    call iolens_region_begin(exchange, "exchange")
    call exchange_halo()
    call iolens_region_end(exchange)
    call iolens_region_begin(smooth, "smooth")
    call smooth_grid()
    norm = sum(grid(1:cells, 1:cells)**2)
    call MPI_Allreduce(MPI_IN_PLACE, norm, 1, MPI_DOUBLE_PRECISION, MPI_SUM, torus)
    call iolens_region_end(smooth)
  end do
  call iolens_region_begin(output, "output")
  call write_and_read()
  call iolens_region_end(output)
  if (any(back /= grid(1:cells, 1:cells))) call MPI_Abort(MPI_COMM_WORLD, 1)
  call MPI_Type_free(row)
  call MPI_Comm_free(torus)
  if (rank == 0) print '(a, 4(1x, i0))', 'expect', 4 * rounds, int(4 * rounds, int64) * cells * 8, rounds, &
      int(cells, int64)**2 * 8
  call get_command_argument(4, path)
  if (path == 'abort') call MPI_Abort(MPI_COMM_WORLD, 3)
  call MPI_Finalize()
  call print_memory()

contains

  integer function argument(number, otherwise)
    integer, intent(in) :: number, otherwise
    character(len=32) :: word
    argument = otherwise
    call get_command_argument(number, word)
    if (word /= '') read (word, *) argument
  end function

  subroutine exchange_halo()
    type(MPI_Request) :: request(8)
    call MPI_Irecv(grid(1, 0), cells, MPI_DOUBLE_PRECISION, south, 1, torus, request(1))
    call MPI_Irecv(grid(1, cells + 1), cells, MPI_DOUBLE_PRECISION, north, 2, torus, request(2))
    call MPI_Irecv(grid(0, 1), 1, row, west, 3, torus, request(3))
    call MPI_Irecv(grid(cells + 1, 1), 1, row, east, 4, torus, request(4))
    call MPI_Isend(grid(1, cells), cells, MPI_DOUBLE_PRECISION, north, 1, torus, request(5))
    call MPI_Isend(grid(1, 1), cells, MPI_DOUBLE_PRECISION, south, 2, torus, request(6))
    call MPI_Isend(grid(cells, 1), 1, row, east, 3, torus, request(7))
    call MPI_Isend(grid(1, 1), 1, row, west, 4, torus, request(8))
    call MPI_Waitall(8, request, MPI_STATUSES_IGNORE)
  end subroutine

  subroutine smooth_grid()
    integer :: i, j
    do j = 1, cells
      do i = 1, cells
        next(i, j) = 0.2_real64 * (grid(i, j) + grid(i - 1, j) + grid(i + 1, j) + grid(i, j - 1) + grid(i, j + 1))
      end do
    end do
    grid(1:cells, 1:cells) = next(1:cells, 1:cells)
  end subroutine

  subroutine write_and_read()
    type(MPI_File) :: file
    integer :: place(2)
    call MPI_Cart_coords(torus, rank, 2, place)
    call MPI_Type_create_subarray(2, cells * dims, [cells, cells], cells * place, MPI_ORDER_FORTRAN, &
        MPI_DOUBLE_PRECISION, mine)
    call MPI_Type_commit(mine)
    call MPI_File_open(torus, trim(path), ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_INFO_NULL, file)
    call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_DOUBLE_PRECISION, mine, 'native', MPI_INFO_NULL)
    back = grid(1:cells, 1:cells)
    call MPI_File_write_at_all(file, 0_MPI_OFFSET_KIND, back, cells**2, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE)
    ! Several ranks may write what one reads back.
    call MPI_File_sync(file)
    call MPI_Barrier(torus)
    call MPI_File_sync(file)
    back = 0
    call MPI_File_read_at_all(file, 0_MPI_OFFSET_KIND, back, cells**2, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE)
    call MPI_File_close(file)
    call MPI_Type_free(mine)
  end subroutine

  ! The kernel's VmHWM, in KiB; ranks that are run under no profiler print it too.
  subroutine print_memory()
    character(len=128) :: line
    integer :: unit, status
    open (newunit=unit, file='/proc/self/status', action='read')
    do
      read (unit, '(a)', iostat=status) line
      if (status /= 0) exit
      if (line(:6) == 'VmHWM:') print '(a, i0, a)', 'memory ', rank, trim(line(7:))
    end do
    close (unit)
  end subroutine
end program
