! A program that keeps a book of every call of MPI that it makes, by mpi_f08, on an even number of ranks: all modes of
! sending, requests that are waited for, tested, started again, given up and failed, matched probes, collective calls
! with MPI_IN_PLACE and without on several communicators, neighbours, two groups, one-sided messages, files, datatypes
! with gaps, MPI_BOTTOM, MPI_PROC_NULL. Each rank writes `expected.RANK` into its folder:
!   CALL rank function calls bytes_sent bytes_received messages size_0 ... size_6
!   PEER rank peer messages bytes received_messages received_bytes
module book
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  integer, parameter :: most = 300
  character(48) :: names(most) = ''
  ! calls, bytes sent, bytes received, messages
  integer(int64) :: numbers(4, most) = 0
  integer(int64) :: bins(0:6, most) = 0
  ! messages, bytes, received messages, received bytes
  integer(int64) :: peers(4, -1:200) = 0
  integer :: known = 0
  integer(int64), parameter :: edges(6) = 2_int64**[4, 8, 12, 16, 20, 24]
contains
  integer function at(name)
    character(*), intent(in) :: name
    do at = 1, known
      if (names(at) == name) return
    end do
    known = known + 1
    names(known) = name
    at = known
  end function

  subroutine made(name)
    character(*), intent(in) :: name
    integer :: i
    i = at(name)
    numbers(1, i) = numbers(1, i) + 1
  end subroutine

  subroutine message(i, bytes)
    integer, intent(in) :: i
    integer(int64), intent(in) :: bytes
    integer :: b
    numbers(2, i) = numbers(2, i) + bytes
    numbers(4, i) = numbers(4, i) + 1
    b = count(bytes >= edges)
    bins(b, i) = bins(b, i) + 1
  end subroutine

  ! a point-to-point message sent within a call of this name

  subroutine sent(name, peer, bytes)
    character(*), intent(in) :: name
    integer, intent(in) :: peer, bytes
    call message(at(name), int(bytes, int64))
    peers(1, peer) = peers(1, peer) + 1
    peers(2, peer) = peers(2, peer) + bytes
  end subroutine

  subroutine got(name, peer, bytes)
    character(*), intent(in) :: name
    integer, intent(in) :: peer, bytes
    integer :: i
    i = at(name)
    numbers(3, i) = numbers(3, i) + bytes
    peers(3, peer) = peers(3, peer) + 1
    peers(4, peer) = peers(4, peer) + bytes
  end subroutine

  ! A message that this rank fetches from a window, and that no other rank sends.
  subroutine fetched(name, peer, bytes)
    character(*), intent(in) :: name
    integer, intent(in) :: peer, bytes
    integer :: i
    i = at(name)
    call got(name, peer, bytes)
    call message(i, int(bytes, int64))
    numbers(2, i) = numbers(2, i) - bytes
  end subroutine

  ! What this rank brings to a collective call, and has of it.
  subroutine volume(name, out, in)
    character(*), intent(in) :: name
    integer, intent(in) :: out, in
    integer :: i
    i = at(name)
    if (out > 0) call message(i, int(out, int64))
    numbers(3, i) = numbers(3, i) + in
  end subroutine

  subroutine shares(name, out, in)
    character(*), intent(in) :: name
    integer, intent(in) :: out, in
    call made(name)
    call volume(name, out, in)
  end subroutine

  subroutine sends(name, peer, bytes)
    character(*), intent(in) :: name
    integer, intent(in) :: peer, bytes
    call made(name)
    call sent(name, peer, bytes)
  end subroutine

  subroutine gets(name, peer, bytes)
    character(*), intent(in) :: name
    integer, intent(in) :: peer, bytes
    call made(name)
    call got(name, peer, bytes)
  end subroutine

  subroutine fetches(name, peer, bytes)
    character(*), intent(in) :: name
    integer, intent(in) :: peer, bytes
    call made(name)
    call fetched(name, peer, bytes)
  end subroutine

  subroutine say(rank)
    integer, intent(in) :: rank
    integer :: u, i
    character(32) :: path
    write (path, '(a, i0)') 'expected.', rank
    open (newunit=u, file=path)
    do i = 1, known
      write (u, '(a, 1x, i0, 1x, a, 11(1x, i0))') 'CALL', rank, trim(names(i)), numbers(:, i), bins(:, i)
    end do
    do i = -1, 200
      if (any(peers(:, i) /= 0)) write (u, '(a, 6(1x, i0))') 'PEER', rank, i, peers(:, i)
    end do
    close (u)
  end subroutine
end module

program mpi_book
  use mpi_f08
  use book
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer :: rank, n, left, right, i, j, other
  type(MPI_Comm) :: w, half, back, err, inter
  integer, asynchronous, target :: a(0:8191), b(0:8191), c(0:8191)
  type(MPI_Datatype) :: vec, gap, idx, sub, abs_type
  integer :: hrank, hn

  call MPI_Init()
  call made('MPI_Init')
  w = MPI_COMM_WORLD
  call MPI_Comm_rank(w, rank)
  call MPI_Comm_size(w, n)
  left = modulo(rank - 1, n); right = modulo(rank + 1, n); other = ieor(rank, 1)
  a = [(rank * 10000 + i, i = 0, 8191)]
  call types()
  call communicators()
  call simple()
  call nonblocking()
  call tests()
  call persistent()
  call cancelled_and_failed()
  call matched()
  call collectives(w, n, rank)
  call exchanges(w, n, rank)
  call collectives(half, hn, hrank)
  call exchanges(half, hn, hrank)
  call collectives(back, n, n - 1 - rank)
  call exchanges(back, n, n - 1 - rank)
  call collectives(MPI_COMM_SELF, 1, 0)
  call exchanges(MPI_COMM_SELF, 1, 0)
  call nonblocking_collectives()
  call neighbours()
  call between()
  call one_sided()
  call files()
  call big()
  call MPI_Comm_free(half); call made('MPI_Comm_free')
  call MPI_Comm_free(back); call made('MPI_Comm_free')
  call MPI_Comm_free(err); call made('MPI_Comm_free')
  call made('MPI_Finalize')
  call say(rank)
  call MPI_Finalize()
contains

  subroutine types()
    integer(MPI_ADDRESS_KIND) :: place
    type(MPI_Datatype) :: pair
    call MPI_Type_vector(10, 3, 7, MPI_INTEGER, vec)                 ! 120 bytes
    call MPI_Type_commit(vec)
    call MPI_Type_create_struct(2, [1, 2], [0_MPI_ADDRESS_KIND, 8_MPI_ADDRESS_KIND], &
      [MPI_CHARACTER, MPI_INTEGER], pair)
    call MPI_Type_create_resized(pair, -8_MPI_ADDRESS_KIND, 32_MPI_ADDRESS_KIND, gap)   ! 9 bytes
    call MPI_Type_commit(gap)
    call MPI_Type_free(pair)
    call MPI_Type_indexed(4, [1, 0, 5, 2], [20, 3, 30, 1], MPI_INTEGER, idx)        ! 32 bytes
    call MPI_Type_commit(idx)
    call MPI_Type_create_subarray(2, [16, 16], [4, 5], [2, 3], MPI_ORDER_FORTRAN, MPI_INTEGER, sub)  ! 80
    call MPI_Type_commit(sub)
    call MPI_Get_address(b, place)
    call MPI_Type_create_hindexed(1, [25], [place], MPI_INTEGER, abs_type)   ! 100 bytes at MPI_BOTTOM
    call MPI_Type_commit(abs_type)
  end subroutine

  subroutine communicators()
    type(MPI_Group) :: all, some
    type(MPI_Comm) :: few, copy, node, none
    type(MPI_Request) :: r
    call MPI_Comm_split(w, mod(rank, 2), rank, half); call made('MPI_Comm_split')
    call MPI_Comm_rank(half, hrank); call MPI_Comm_size(half, hn)
    call MPI_Comm_split(w, 0, -rank, back); call made('MPI_Comm_split')
    call MPI_Comm_split(w, merge(MPI_UNDEFINED, 3, rank == 0), 0, none); call made('MPI_Comm_split')
    if (rank /= 0) then
      call MPI_Barrier(none); call made('MPI_Barrier')
      call MPI_Comm_free(none); call made('MPI_Comm_free')
    end if
    call MPI_Comm_dup(w, err); call made('MPI_Comm_dup')
    call MPI_Comm_set_errhandler(err, MPI_ERRORS_RETURN)
    call MPI_Comm_group(w, all)
    call MPI_Group_incl(all, 2, [n - 1, 0], some)
    call MPI_Comm_create(w, some, few); call made('MPI_Comm_create')
    if (few /= MPI_COMM_NULL) then
      ! rank n-1 is 0 here
      if (rank == n - 1) then
        call MPI_Send(a, 6, MPI_INTEGER, 1, 4, few); call sends('MPI_Send', 0, 24)
      else
        call MPI_Recv(b, 60, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, few, MPI_STATUS_IGNORE)
        call gets('MPI_Recv', n - 1, 24)
      end if
      call MPI_Comm_free(few); call made('MPI_Comm_free')
      call MPI_Comm_create_group(w, some, 5, few); call made('MPI_Comm_create_group')
      call MPI_Bcast(a, 4, MPI_INTEGER, 0, few)
      call shares('MPI_Bcast', merge(16, 0, rank == n - 1), merge(0, 16, rank == n - 1))
      call MPI_Comm_free(few); call made('MPI_Comm_free')
    end if
    call MPI_Comm_idup(w, copy, r); call made('MPI_Comm_idup')
    call MPI_Wait(r, MPI_STATUS_IGNORE); call made('MPI_Wait')
    call MPI_Sendrecv(a, 2, vec, right, 1, b, 60, MPI_INTEGER, left, 1, copy, MPI_STATUS_IGNORE)
    call sends('MPI_Sendrecv', right, 240); call got('MPI_Sendrecv', left, 240)
    call MPI_Comm_free(copy); call made('MPI_Comm_free')
    call MPI_Comm_split_type(w, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node); call made('MPI_Comm_split_type')
    call MPI_Barrier(node); call made('MPI_Barrier')
    call MPI_Comm_disconnect(node); call made('MPI_Comm_disconnect')
    call MPI_Group_free(all); call MPI_Group_free(some)
    ! a communicator handle that comes and goes, with another order each time
    do i = 1, 5
      call MPI_Comm_split(w, 0, merge(rank, -rank, mod(i, 2) == 0), copy); call made('MPI_Comm_split')
      call MPI_Comm_rank(copy, j)
      if (j == 0) then
        call MPI_Ssend(a, i, MPI_INTEGER, 1, i, copy)
        call sends('MPI_Ssend', merge(1, n - 2, mod(i, 2) == 0), 4 * i)
      else if (j == 1) then
        call MPI_Recv(b, 99, MPI_INTEGER, 0, i, copy, MPI_STATUS_IGNORE)
        call gets('MPI_Recv', merge(0, n - 1, mod(i, 2) == 0), 4 * i)
      end if
      call MPI_Comm_free(copy); call made('MPI_Comm_free')
    end do
  end subroutine

  subroutine exchange_check(k)
    integer, intent(in) :: k
    if (k /= 0) call MPI_Abort(w, k)
  end subroutine

  subroutine simple()
    type(MPI_Status) :: s
    integer :: k
    character(4096), asynchronous :: room
    ! derived types
    if (rank == 0) then
      call MPI_Send(a, 3, gap, 1, 1, w); call sends('MPI_Send', 1, 27)
      call MPI_Send(a, 1, idx, 1, 1, w); call sends('MPI_Send', 1, 32)
      call MPI_Send(a, 1, sub, 1, 1, w); call sends('MPI_Send', 1, 80)
      call MPI_Send(MPI_BOTTOM, 1, abs_type, 1, 1, w); call sends('MPI_Send', 1, 100)
      call MPI_Send(a, 0, sub, 1, 1, w); call sends('MPI_Send', 1, 0)
      call MPI_Send(a, 4, MPI_2INTEGER, 1, 1, w); call sends('MPI_Send', 1, 32)
    else if (rank == 1) then
      call MPI_Recv(b, 3, gap, 0, 1, w, s); call gets('MPI_Recv', 0, 27)
      call MPI_Get_count(s, gap, k); call exchange_check(k - 3)
      call MPI_Recv(b, 1, idx, 0, MPI_ANY_TAG, w, MPI_STATUS_IGNORE); call gets('MPI_Recv', 0, 32)
      call MPI_Recv(b, 20, MPI_INTEGER, MPI_ANY_SOURCE, 1, w, s); call gets('MPI_Recv', 0, 80)
      call MPI_Recv(MPI_BOTTOM, 2, abs_type, 0, 1, w, s); call gets('MPI_Recv', 0, 100)
      call MPI_Recv(b, 9, sub, 0, 1, w, s); call gets('MPI_Recv', 0, 0)
      call MPI_Recv(b, 9, MPI_2INTEGER, 0, 1, w, s); call gets('MPI_Recv', 0, 32)
    end if
    ! nobody
    call MPI_Send(a, 10, MPI_INTEGER, MPI_PROC_NULL, 1, w); call made('MPI_Send')
    call MPI_Recv(b, 10, MPI_INTEGER, MPI_PROC_NULL, 1, w, s); call made('MPI_Recv')
    call MPI_Sendrecv(a, 10, MPI_INTEGER, merge(MPI_PROC_NULL, rank + 1, rank == n - 1), 1, &
      b, 10, MPI_INTEGER, merge(MPI_PROC_NULL, rank - 1, rank == 0), 1, w, s); call made('MPI_Sendrecv')
    if (rank < n - 1) call sent('MPI_Sendrecv', rank + 1, 40)
    if (rank > 0) call got('MPI_Sendrecv', rank - 1, 40)
    call MPI_Sendrecv_replace(a, 100, MPI_INTEGER, right, 2, left, 2, w, s)
    call sends('MPI_Sendrecv_replace', right, 400); call got('MPI_Sendrecv_replace', left, 400)
    ! to oneself
    call MPI_Sendrecv(a, 16, MPI_BYTE, rank, 3, b, 16, MPI_BYTE, rank, 3, w, MPI_STATUS_IGNORE)
    call sends('MPI_Sendrecv', rank, 16); call got('MPI_Sendrecv', rank, 16)
    ! buffered
    call MPI_Buffer_attach(room, 4096)
    call MPI_Bsend(a, 64, MPI_INTEGER, other, 7, w); call sends('MPI_Bsend', other, 256)
    call MPI_Probe(other, 7, w, s); call made('MPI_Probe')
    call MPI_Recv(b, 64, MPI_INTEGER, other, 7, w, MPI_STATUS_IGNORE); call gets('MPI_Recv', other, 256)
    detach: block
      use, intrinsic :: iso_c_binding
      type(c_ptr) :: gone
      call MPI_Buffer_detach(gone, k); call made('MPI_Buffer_detach')
    end block detach
  end subroutine

  subroutine nonblocking()
    type(MPI_Request) :: r(8)
    type(MPI_Status) :: s(8)
    integer :: k, done, which(8), m
    ! all modes, received by any
    do i = 1, 3
      call MPI_Irecv(b(1000 * i), 500, MPI_INTEGER, MPI_ANY_SOURCE, 10 + i, w, r(i)); call made('MPI_Irecv')
    end do
    call MPI_Barrier(w); call made('MPI_Barrier')
    call MPI_Isend(a, 10, MPI_INTEGER, right, 11, w, r(4)); call sends('MPI_Isend', right, 40)
    call MPI_Issend(a, 20, MPI_INTEGER, right, 12, w, r(5)); call sends('MPI_Issend', right, 80)
    call MPI_Irsend(a, 30, MPI_INTEGER, right, 13, w, r(6)); call sends('MPI_Irsend', right, 120)
    call MPI_Irecv(b, 30, MPI_INTEGER, MPI_PROC_NULL, 13, w, r(7)); call made('MPI_Irecv')
    call MPI_Isend(b, 30, MPI_INTEGER, MPI_PROC_NULL, 13, w, r(8)); call made('MPI_Isend')
    do k = 1, 8
      call MPI_Waitany(8, r, m, s(1)); call made('MPI_Waitany')
      if (m <= 3) call got('MPI_Waitany', left, m * 40)
    end do
    call MPI_Waitany(8, r, m, MPI_STATUS_IGNORE); call made('MPI_Waitany')   ! all null
    ! waitsome
    do i = 1, 4
      call MPI_Irecv(b(100 * i), 100, MPI_INTEGER, left, 20 + i, w, r(i)); call made('MPI_Irecv')
      call MPI_Isend(a, 3 * i, MPI_INTEGER, right, 20 + i, w, r(4 + i)); call sends('MPI_Isend', right, 12 * i)
    end do
    k = 0
    do while (k < 8)
      if (mod(rank, 2) == 0) then
        call MPI_Waitsome(8, r, done, which, MPI_STATUSES_IGNORE); call made('MPI_Waitsome')
      else
        call MPI_Testsome(8, r, done, which, s); call made('MPI_Testsome')
      end if
      if (done == MPI_UNDEFINED) call MPI_Abort(w, 7)
      do m = 1, done
        if (which(m) <= 4) call got(merge('MPI_Waitsome', 'MPI_Testsome', mod(rank, 2) == 0), left, 12 * which(m))
      end do
      k = k + done
    end do
    call MPI_Waitsome(8, r, done, which, MPI_STATUSES_IGNORE); call made('MPI_Waitsome')
  end subroutine

  subroutine tests()
    type(MPI_Request) :: q(2)
    type(MPI_Status) :: s(1)
    integer :: k, m
    logical :: flag
    call MPI_Irecv(b, 100, MPI_INTEGER, left, 31, w, q(1)); call made('MPI_Irecv')
    call MPI_Isend(a, 100, MPI_INTEGER, right, 31, w, q(2)); call sends('MPI_Isend', right, 400)
    flag = .false.
    do while (.not. flag)
      call MPI_Request_get_status(q(1), flag, s(1)); call made('MPI_Request_get_status')
    end do
    flag = .false.
    do while (.not. flag)
      call MPI_Testall(2, q, flag, MPI_STATUSES_IGNORE); call made('MPI_Testall')
    end do
    call got('MPI_Testall', left, 400)
    call MPI_Irecv(b, 100, gap, left, 32, w, q(1)); call made('MPI_Irecv')
    call MPI_Isend(a, 11, gap, right, 32, w, q(2)); call sends('MPI_Isend', right, 99)
    k = 0
    do while (k < 2)
      call MPI_Testany(2, q, m, flag, s(1)); call made('MPI_Testany')
      if (flag) then
        if (m == 1) call got('MPI_Testany', left, 99)
        k = k + 1
      end if
    end do
    ! a send that is given up with request_free; the receive of it is counted
    call MPI_Isend(a, 7, MPI_INTEGER, right, 33, w, q(1)); call sends('MPI_Isend', right, 28)
    call MPI_Request_free(q(1)); call made('MPI_Request_free')
    call MPI_Irecv(b, 7, MPI_INTEGER, left, 33, w, q(2)); call made('MPI_Irecv')
    flag = .false.
    do while (.not. flag)
      call MPI_Test(q(2), flag, MPI_STATUS_IGNORE); call made('MPI_Test')
    end do
    call got('MPI_Test', left, 28)
    call MPI_Wait(q(2), MPI_STATUS_IGNORE); call made('MPI_Wait')
    ! many requests
    many: block
      type(MPI_Request) :: lots(200)
      do i = 1, 100
        call MPI_Irecv(c(i), 1, MPI_INTEGER, left, 100 + i, w, lots(i)); call made('MPI_Irecv')
      end do
      do i = 100, 1, -1
        call MPI_Isend(a(i), 1, MPI_INTEGER, right, 100 + i, w, lots(100 + i)); call sends('MPI_Isend', right, 4)
        call got('MPI_Waitall', left, 4)
      end do
      call MPI_Waitall(200, lots, MPI_STATUSES_IGNORE); call made('MPI_Waitall')
    end block many
  end subroutine

  subroutine persistent()
    type(MPI_Request) :: r(4)
    integer :: k
    call MPI_Recv_init(b, 100, MPI_INTEGER, left, 40, w, r(1)); call made('MPI_Recv_init')
    call MPI_Send_init(a, 1, vec, right, 40, w, r(2)); call made('MPI_Send_init')
    call MPI_Ssend_init(a, 50, MPI_INTEGER, MPI_PROC_NULL, 41, w, r(3)); call made('MPI_Ssend_init')
    call MPI_Recv_init(b, 1, MPI_INTEGER, MPI_PROC_NULL, 42, w, r(4)); call made('MPI_Recv_init')
    do k = 1, 3
      call MPI_Startall(4, r); call sends('MPI_Startall', right, 120)
      call MPI_Waitall(4, r, MPI_STATUSES_IGNORE); call gets('MPI_Waitall', left, 120)
    end do
    call MPI_Waitall(4, r, MPI_STATUSES_IGNORE); call made('MPI_Waitall')   ! inactive ones bring nothing
    call MPI_Start(r(1)); call made('MPI_Start')
    call MPI_Start(r(2)); call sends('MPI_Start', right, 120)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE); call gets('MPI_Wait', left, 120)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE); call made('MPI_Wait')
    call MPI_Wait(r(2), MPI_STATUS_IGNORE); call made('MPI_Wait')
    do k = 1, 4
      call MPI_Request_free(r(k)); call made('MPI_Request_free')
    end do
  end subroutine

  subroutine cancelled_and_failed()
    type(MPI_Request) :: r(3)
    type(MPI_Status) :: s(3)
    integer :: e, class, k
    logical :: flag
    call MPI_Comm_set_errhandler(w, MPI_ERRORS_RETURN)
    call MPI_Irecv(b, 100, MPI_INTEGER, left, 999, w, r(1)); call made('MPI_Irecv')
    call MPI_Cancel(r(1)); call made('MPI_Cancel')
    call MPI_Wait(r(1), s(1)); call made('MPI_Wait')
    call MPI_Test_cancelled(s(1), flag)
    if (.not. flag) call MPI_Abort(w, 9)
    call MPI_Recv_init(b, 100, MPI_INTEGER, left, 50, w, r(1)); call made('MPI_Recv_init')
    call MPI_Start(r(1)); call made('MPI_Start')
    call MPI_Cancel(r(1)); call made('MPI_Cancel')
    call MPI_Wait(r(1), s(1)); call made('MPI_Wait')
    call MPI_Request_free(r(1)); call made('MPI_Request_free')
    ! truncation
    call MPI_Send(a, 10, MPI_INTEGER, right, 60, err); call sends('MPI_Send', right, 40)
    call MPI_Recv(b, 5, MPI_INTEGER, left, 60, err, MPI_STATUS_IGNORE, e); call made('MPI_Recv')
    call MPI_Error_class(e, class)
    if (class /= MPI_ERR_TRUNCATE) call MPI_Abort(w, 10)
    call MPI_Irecv(b, 5, MPI_INTEGER, left, 61, err, r(1)); call made('MPI_Irecv')
    call MPI_Irecv(c, 50, MPI_INTEGER, left, 62, err, r(2)); call made('MPI_Irecv')
    call MPI_Barrier(err); call made('MPI_Barrier')
    call MPI_Send(a, 10, MPI_INTEGER, right, 61, err); call sends('MPI_Send', right, 40)
    call MPI_Send(a, 11, MPI_INTEGER, right, 62, err); call sends('MPI_Send', right, 44)
    r(3) = MPI_REQUEST_NULL
    call MPI_Barrier(err); call made('MPI_Barrier')
    do k = 1, 200
      call MPI_Iprobe(MPI_ANY_SOURCE, 777, err, flag, MPI_STATUS_IGNORE); call made('MPI_Iprobe')
    end do
    call MPI_Waitall(3, r, s, e); call made('MPI_Waitall')
    call MPI_Error_class(e, class)
    if (class /= MPI_ERR_IN_STATUS) call MPI_Abort(w, 11)
    if (s(2)%MPI_ERROR == MPI_SUCCESS) then
      call got('MPI_Waitall', left, 44)
    else
      if (s(2)%MPI_ERROR /= MPI_ERR_PENDING) call MPI_Abort(w, 12)
      call MPI_Wait(r(2), MPI_STATUS_IGNORE); call gets('MPI_Wait', left, 44)
    end if
    ! bad arguments: calls that fail are calls
    call MPI_Send(a, 10, MPI_INTEGER, n + 5, 60, err, e); call made('MPI_Send')
    if (e == MPI_SUCCESS) call MPI_Abort(w, 13)
    call MPI_Isend(a, -1, MPI_INTEGER, 0, 60, err, r(1), e); call made('MPI_Isend')
    if (e == MPI_SUCCESS) call MPI_Abort(w, 14)
    call MPI_Bcast(a, 10, MPI_INTEGER, n + 7, err, e); call made('MPI_Bcast')
    if (e == MPI_SUCCESS) call MPI_Abort(w, 15)
    call MPI_Comm_set_errhandler(w, MPI_ERRORS_ARE_FATAL)
  end subroutine

  subroutine matched()
    type(MPI_Message) :: m
    type(MPI_Status) :: s
    type(MPI_Request) :: r
    logical :: flag
    call MPI_Isend(a, 13, MPI_INTEGER, right, 70, w, r); call sends('MPI_Isend', right, 52)
    call MPI_Mprobe(MPI_ANY_SOURCE, 70, w, m, s); call made('MPI_Mprobe')
    call MPI_Mrecv(b, 20, MPI_INTEGER, m, MPI_STATUS_IGNORE); call gets('MPI_Mrecv', left, 52)
    call MPI_Wait(r, MPI_STATUS_IGNORE); call made('MPI_Wait')
    call MPI_Isend(a, 14, MPI_INTEGER, right, 71, w, r); call sends('MPI_Isend', right, 56)
    flag = .false.
    do while (.not. flag)
      call MPI_Improbe(left, 71, w, flag, m, s); call made('MPI_Improbe')
    end do
    call MPI_Wait(r, MPI_STATUS_IGNORE); call made('MPI_Wait')
    call MPI_Imrecv(b, 20, MPI_INTEGER, m, r); call made('MPI_Imrecv')
    call MPI_Wait(r, MPI_STATUS_IGNORE); call gets('MPI_Wait', left, 56)
    call MPI_Mprobe(MPI_PROC_NULL, 1, w, m, s); call made('MPI_Mprobe')
    call MPI_Mrecv(b, 1, MPI_INTEGER, m, s); call made('MPI_Mrecv')
  end subroutine

  ! all sizes here: 5 integers = 20 bytes
  subroutine collectives(comm, p, me)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: p, me
    integer :: counts(0:p-1), displs(0:p-1), total, root
    root = p - 1
    counts = [(i, i = 0, p - 1)]; displs = [(10 * i, i = 0, p - 1)]
    total = 4 * sum(counts)
    call MPI_Barrier(comm); call made('MPI_Barrier')
    call MPI_Bcast(a, 2, vec, root, comm)
    call shares('MPI_Bcast', merge(240, 0, me == root), merge(0, 240, me == root))
    call MPI_Bcast(a, 0, vec, root, comm); call shares('MPI_Bcast', 0, 0)
    call MPI_Reduce(a, b, 5, MPI_INTEGER, MPI_SUM, root, comm)
    call shares('MPI_Reduce', 20, merge(20, 0, me == root))
    if (me == root) then
      call MPI_Reduce(MPI_IN_PLACE, b, 5, MPI_INTEGER, MPI_SUM, root, comm)
    else
      call MPI_Reduce(b, c, 5, MPI_INTEGER, MPI_SUM, root, comm)
    end if
    call shares('MPI_Reduce', 20, merge(20, 0, me == root))
    call MPI_Allreduce(MPI_IN_PLACE, b, 5, MPI_INTEGER, MPI_MAX, comm); call shares('MPI_Allreduce', 20, 20)
    call MPI_Allreduce(a, b, 6, MPI_REAL8, MPI_MAX, comm); call shares('MPI_Allreduce', 48, 48)
    call MPI_Scan(a, b, 5, MPI_INTEGER, MPI_SUM, comm); call shares('MPI_Scan', 20, 20)
    call MPI_Exscan(MPI_IN_PLACE, b, 5, MPI_INTEGER, MPI_SUM, comm); call shares('MPI_Exscan', 20, merge(0, 20, me == 0))
    call MPI_Gather(a, 5, MPI_INTEGER, b, 5, MPI_INTEGER, root, comm)
    call shares('MPI_Gather', 20, merge(20 * p, 0, me == root))
    if (me == root) then
      call MPI_Gather(MPI_IN_PLACE, 77, MPI_DATATYPE_NULL, b, 5, MPI_INTEGER, root, comm)
    else
      call MPI_Gather(a, 5, MPI_INTEGER, b, -3, MPI_INTEGER, root, comm)
    end if
    call shares('MPI_Gather', 20, merge(20 * p, 0, me == root))
    call MPI_Gatherv(a, me, MPI_INTEGER, b, counts, displs, MPI_INTEGER, root, comm)
    call shares('MPI_Gatherv', 4 * me, merge(total, 0, me == root))
    if (me == root) then
      call MPI_Gatherv(MPI_IN_PLACE, 0, MPI_INTEGER, b, counts, displs, MPI_INTEGER, root, comm)
    else
      call MPI_Gatherv(a, me, MPI_INTEGER, b, counts, displs, MPI_INTEGER, root, comm)
    end if
    call shares('MPI_Gatherv', 4 * me, merge(total, 0, me == root))
    call MPI_Scatter(a, 5, MPI_INTEGER, b, 5, MPI_INTEGER, root, comm)
    call shares('MPI_Scatter', merge(20 * p, 0, me == root), 20)
    call MPI_Scatterv(a, counts, displs, MPI_INTEGER, b, me, MPI_INTEGER, root, comm)
    call shares('MPI_Scatterv', merge(total, 0, me == root), 4 * me)
    if (me == root) then
      call MPI_Scatterv(a, counts, displs, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_INTEGER, root, comm)
    else
      call MPI_Scatterv(a, counts, displs, MPI_INTEGER, b, me, MPI_INTEGER, root, comm)
    end if
    call shares('MPI_Scatterv', merge(total, 0, me == root), 4 * me)
  end subroutine

  ! each rank of `comm`, of which there are p, sends to all
  subroutine exchanges(comm, p, me)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: p, me
    integer :: counts(0:p-1), displs(0:p-1), total
    type(MPI_Datatype) :: ts(0:p-1), rs(0:p-1)
    counts = [(i, i = 0, p - 1)]; displs = 10 * counts
    total = 4 * sum(counts)
    call MPI_Allgather(a, 5, MPI_INTEGER, b, 20, MPI_BYTE, comm); call shares('MPI_Allgather', 20, 20 * p)
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 5, MPI_INTEGER, comm)
    call shares('MPI_Allgather', 20, 20 * p)
    call MPI_Allgatherv(a, me, MPI_INTEGER, b, counts, displs, MPI_INTEGER, comm)
    call shares('MPI_Allgatherv', 4 * me, total)
    call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, counts, displs, MPI_INTEGER, comm)
    call shares('MPI_Allgatherv', 4 * me, total)
    call MPI_Alltoall(a, 5, MPI_INTEGER, b, 5, MPI_INTEGER, comm); call shares('MPI_Alltoall', 20 * p, 20 * p)
    call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, b, 5, MPI_INTEGER, comm)
    call shares('MPI_Alltoall', 20 * p, 20 * p)
    ! me sends me+1 to each; so receives i+1 from i
    call MPI_Alltoallv(a, [(me + 1, i = 0, p - 1)], displs, MPI_INTEGER, b, counts + 1, displs, MPI_INTEGER, comm)
    call shares('MPI_Alltoallv', 4 * p * (me + 1), total + 4 * p)
    ts = MPI_INTEGER; rs = MPI_INTEGER
    if (p > 1) then
      ts(p - 1) = MPI_REAL8                       ! two integers to the last one
      if (me == p - 1) rs = MPI_REAL8
    end if
    call MPI_Alltoallw(a, [(2, i = 0, p - 1)], 40 * counts, ts, b, [(2, i = 0, p - 1)], 40 * counts, rs, comm)
    call shares('MPI_Alltoallw', 8 * p + merge(8, 0, p > 1), 8 * p * merge(2, 1, p > 1 .and. me == p - 1))
    call MPI_Reduce_scatter(a, b, counts, MPI_INTEGER, MPI_SUM, comm)
    call shares('MPI_Reduce_scatter', total, 4 * me)
    call MPI_Reduce_scatter_block(a, b, 5, MPI_INTEGER, MPI_SUM, comm)
    call shares('MPI_Reduce_scatter_block', 20 * p, 20)
  end subroutine

  subroutine nonblocking_collectives()
    type(MPI_Request) :: r(12)
    integer :: k
    integer, asynchronous :: x(100), y(100)
    x = 1; y = 0
    call MPI_Ibarrier(w, r(1)); call made('MPI_Ibarrier')
    call MPI_Ibcast(x, 5, MPI_INTEGER, 0, half, r(2))
    call shares('MPI_Ibcast', merge(20, 0, hrank == 0), merge(0, 20, hrank == 0))
    call MPI_Iallreduce(MPI_IN_PLACE, y, 3, MPI_INTEGER, MPI_SUM, back, r(3)); call shares('MPI_Iallreduce', 12, 12)
    call MPI_Igather(x, 2, MPI_INTEGER, c(0), 2, MPI_INTEGER, 1, w, r(4))
    call shares('MPI_Igather', 8, merge(8 * n, 0, rank == 1))
    call MPI_Iscatterv(a, [(k, k = 1, n)], [(10 * k, k = 1, n)], MPI_INTEGER, c(500), rank + 1, &
      MPI_INTEGER, 0, w, r(5))
    call shares('MPI_Iscatterv', merge(4 * n * (n + 1) / 2, 0, rank == 0), 4 * (rank + 1))
    call MPI_Ialltoallv(a, [(1, k = 1, n)], [(k, k = 1, n)], MPI_INTEGER, c(1000), [(1, k = 1, n)], [(k, k = 1, n)], &
      MPI_INTEGER, w, r(6)); call shares('MPI_Ialltoallv', 4 * n, 4 * n)
    call MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_INTEGER, c(1500), [(k, k = 1, n)], [(10 * k, k = 1, n)], &
      MPI_INTEGER, w, r(7))
    call shares('MPI_Iallgatherv', 4 * (rank + 1), 4 * n * (n + 1) / 2)
    call MPI_Ireduce_scatter_block(a, c(2000), 2, MPI_INTEGER, MPI_SUM, w, r(8))
    call shares('MPI_Ireduce_scatter_block', 8 * n, 8)
    call MPI_Iscan(x, c(2500), 2, MPI_INTEGER, MPI_SUM, w, r(9)); call shares('MPI_Iscan', 8, 8)
    call MPI_Ireduce(x, c(3000), 4, MPI_INTEGER, MPI_SUM, n - 1, w, r(10))
    call shares('MPI_Ireduce', 16, merge(16, 0, rank == n - 1))
    call MPI_Irecv(b, 9, MPI_INTEGER, left, 80, w, r(11)); call made('MPI_Irecv')
    call MPI_Isend(a, 9, MPI_INTEGER, right, 80, w, r(12)); call sends('MPI_Isend', right, 36)
    call MPI_Waitall(12, r, MPI_STATUSES_IGNORE); call gets('MPI_Waitall', left, 36)
  end subroutine

  subroutine neighbours()
    type(MPI_Comm) :: line, ring, graph
    integer :: k
    type(MPI_Request) :: r
    call MPI_Cart_create(w, 1, [n], [.false.], .false., line); call made('MPI_Cart_create')
    call MPI_Cart_create(w, 1, [n], [.true.], .false., ring); call made('MPI_Cart_create')
    k = merge(1, 2, rank == 0 .or. rank == n - 1)
    call MPI_Neighbor_allgather(a, 5, MPI_INTEGER, b, 5, MPI_INTEGER, line)
    call shares('MPI_Neighbor_allgather', 20, 20 * k)
    call MPI_Neighbor_alltoall(a, 5, MPI_INTEGER, b, 5, MPI_INTEGER, line)
    call shares('MPI_Neighbor_alltoall', 20 * k, 20 * k)
    call MPI_Neighbor_alltoallv(a, [3, 4], [0, 10], MPI_INTEGER, b, [4, 3], [0, 10], MPI_INTEGER, ring)
    call shares('MPI_Neighbor_alltoallv', 28, 28)
    call MPI_Ineighbor_alltoall(a, 5, MPI_INTEGER, b, 5, MPI_INTEGER, ring, r)
    call shares('MPI_Ineighbor_alltoall', 40, 40)
    call MPI_Wait(r, MPI_STATUS_IGNORE); call made('MPI_Wait')
    ! rank k sends to k+1 and k+2, so it receives of k-1 and k-2
    call MPI_Dist_graph_create_adjacent(w, 2, [left, modulo(rank - 2, n)], [1, 1], 2, [right, modulo(rank + 2, n)], &
      [1, 1], MPI_INFO_NULL, .false., graph); call made('MPI_Dist_graph_create_adjacent')
    call MPI_Neighbor_allgatherv(a, 3, MPI_INTEGER, b, [3, 3], [0, 10], MPI_INTEGER, graph)
    call shares('MPI_Neighbor_allgatherv', 12, 24)
    call MPI_Neighbor_alltoallw(a, [1, 2], [0_MPI_ADDRESS_KIND, 40_MPI_ADDRESS_KIND], [MPI_INTEGER, MPI_REAL8], &
      b, [1, 2], [0_MPI_ADDRESS_KIND, 40_MPI_ADDRESS_KIND], [MPI_INTEGER, MPI_REAL8], graph)
    call shares('MPI_Neighbor_alltoallw', 20, 20)
    call MPI_Comm_free(line); call made('MPI_Comm_free')
    call MPI_Comm_free(ring); call made('MPI_Comm_free')
    call MPI_Comm_free(graph); call made('MPI_Comm_free')
  end subroutine

  subroutine between()
    type(MPI_Comm) :: merged
    integer :: root, hp
    hp = n - hn      ! the others' number
    call MPI_Intercomm_create(half, 0, w, 1 - mod(rank, 2), 5, inter); call made('MPI_Intercomm_create')
    ! partner i of the other group is world rank 2*i + other parity
    call MPI_Sendrecv(a, 4, MPI_INTEGER, hrank, 6, b, 4, MPI_INTEGER, hrank, 6, inter, MPI_STATUS_IGNORE)
    call sends('MPI_Sendrecv', other, 16); call got('MPI_Sendrecv', other, 16)
    call MPI_Barrier(inter); call made('MPI_Barrier')
    ! the first even one is root
    root = merge(0, merge(MPI_ROOT, MPI_PROC_NULL, hrank == 0), mod(rank, 2) == 1)
    call MPI_Bcast(a, 5, MPI_INTEGER, root, inter)
    call shares('MPI_Bcast', merge(20, 0, rank == 0), merge(20, 0, mod(rank, 2) == 1))
    call MPI_Gather(a, 5, MPI_INTEGER, b, 5, MPI_INTEGER, root, inter)
    call shares('MPI_Gather', merge(20, 0, mod(rank, 2) == 1), merge(20 * hp, 0, rank == 0))
    call MPI_Scatter(a, 5, MPI_INTEGER, b, 5, MPI_INTEGER, root, inter)
    call shares('MPI_Scatter', merge(20 * hp, 0, rank == 0), merge(20, 0, mod(rank, 2) == 1))
    call MPI_Reduce(a, b, 5, MPI_INTEGER, MPI_SUM, root, inter)
    call shares('MPI_Reduce', merge(20, 0, mod(rank, 2) == 1), merge(20, 0, rank == 0))
    call MPI_Allreduce(a, b, 5, MPI_INTEGER, MPI_SUM, inter); call shares('MPI_Allreduce', 20, 20)
    call MPI_Allgather(a, 5, MPI_INTEGER, b, 5, MPI_INTEGER, inter); call shares('MPI_Allgather', 20, 20 * hp)
    call MPI_Alltoall(a, 5, MPI_INTEGER, b, 5, MPI_INTEGER, inter); call shares('MPI_Alltoall', 20 * hp, 20 * hp)
    call MPI_Intercomm_merge(inter, mod(rank, 2) == 1, merged); call made('MPI_Intercomm_merge')
    ! evens first
    call MPI_Comm_rank(merged, i)
    if (i == 0) then
      call MPI_Send(a, 2, MPI_INTEGER, n - 1, 8, merged); call sends('MPI_Send', n - 1, 8)
    end if
    if (i == n - 1) then
      call MPI_Recv(b, 2, MPI_INTEGER, 0, 8, merged, MPI_STATUS_IGNORE); call gets('MPI_Recv', 0, 8)
    end if
    call MPI_Comm_free(merged); call made('MPI_Comm_free')
    call MPI_Comm_free(inter); call made('MPI_Comm_free')
  end subroutine

  subroutine one_sided()
    type(MPI_Win) :: win
    integer, asynchronous, target, save :: wm(2000)
    type(MPI_Group) :: all, one
    type(MPI_Request) :: r(2)
    integer(MPI_ADDRESS_KIND), parameter :: at0 = 0
    integer :: x, y, z
    call MPI_Win_create(wm, 4096_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, w, win); call made('MPI_Win_create')
    call MPI_Win_fence(0, win); call made('MPI_Win_fence')
    call MPI_Put(a, 5, MPI_INTEGER, right, at0, 5, MPI_INTEGER, win); call sends('MPI_Put', right, 20)
    call MPI_Put(a, 1, vec, right, 50_MPI_ADDRESS_KIND, 30, MPI_INTEGER, win); call sends('MPI_Put', right, 120)
    call MPI_Put(a, 5, MPI_INTEGER, MPI_PROC_NULL, at0, 5, MPI_INTEGER, win); call made('MPI_Put')
    call MPI_Win_fence(0, win); call made('MPI_Win_fence')
    call MPI_Get(b, 5, MPI_INTEGER, right, at0, 5, MPI_INTEGER, win); call fetches('MPI_Get', right, 20)
    call MPI_Win_fence(0, win); call made('MPI_Win_fence')
    call MPI_Accumulate(a, 5, MPI_INTEGER, right, at0, 5, MPI_INTEGER, MPI_SUM, win)
    call sends('MPI_Accumulate', right, 20)
    call MPI_Win_fence(0, win); call made('MPI_Win_fence')
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, left, 0, win); call made('MPI_Win_lock')
    call MPI_Get_accumulate(a, 5, MPI_INTEGER, b, 5, MPI_INTEGER, left, at0, 5, MPI_INTEGER, MPI_SUM, win)
    call sends('MPI_Get_accumulate', left, 20); call fetched('MPI_Get_accumulate', left, 20)
    call MPI_Get_accumulate(a, 0, MPI_DATATYPE_NULL, b, 5, MPI_INTEGER, left, at0, 5, MPI_INTEGER, MPI_NO_OP, win)
    call fetches('MPI_Get_accumulate', left, 20)
    x = 1
    call MPI_Fetch_and_op(x, y, MPI_INTEGER, left, at0, MPI_SUM, win); call sends('MPI_Fetch_and_op', left, 4)
    call fetched('MPI_Fetch_and_op', left, 4)
    call MPI_Fetch_and_op(x, y, MPI_INTEGER, left, at0, MPI_NO_OP, win); call fetches('MPI_Fetch_and_op', left, 4)
    call MPI_Win_flush(left, win); call made('MPI_Win_flush')
    call MPI_Compare_and_swap(x, y, z, MPI_INTEGER, left, at0, win); call sends('MPI_Compare_and_swap', left, 4)
    call fetched('MPI_Compare_and_swap', left, 4)
    call MPI_Win_unlock(left, win); call made('MPI_Win_unlock')
    call MPI_Win_lock_all(0, win); call made('MPI_Win_lock_all')
    call MPI_Rput(a, 6, MPI_INTEGER, left, 200_MPI_ADDRESS_KIND, 6, MPI_INTEGER, win, r(1))
    call sends('MPI_Rput', left, 24)
    call MPI_Rget(b, 7, MPI_INTEGER, left, 300_MPI_ADDRESS_KIND, 7, MPI_INTEGER, win, r(2))
    call fetches('MPI_Rget', left, 28)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE); call made('MPI_Waitall')
    call MPI_Win_unlock_all(win); call made('MPI_Win_unlock_all')
    call MPI_Comm_group(w, all)
    call MPI_Group_incl(all, 1, [other], one)
    call MPI_Win_post(one, 0, win); call made('MPI_Win_post')
    call MPI_Win_start(one, 0, win); call made('MPI_Win_start')
    call MPI_Put(a, 2, MPI_INTEGER, other, 400_MPI_ADDRESS_KIND, 2, MPI_INTEGER, win); call sends('MPI_Put', other, 8)
    call MPI_Win_complete(win); call made('MPI_Win_complete')
    call MPI_Win_wait(win); call made('MPI_Win_wait')
    call MPI_Group_free(one); call MPI_Group_free(all)
    call MPI_Win_free(win); call made('MPI_Win_free')
    ! of another communicator, backwards
    call MPI_Win_create(c, 4096_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, back, win); call made('MPI_Win_create')
    call MPI_Win_fence(0, win); call made('MPI_Win_fence')
    if (rank == 0) then
      call MPI_Put(a, 3, MPI_INTEGER, 0, at0, 3, MPI_INTEGER, win); call sends('MPI_Put', n - 1, 12)
    end if
    call MPI_Win_fence(0, win); call made('MPI_Win_fence')
    call MPI_Win_free(win); call made('MPI_Win_free')
  end subroutine

  subroutine files()
    type(MPI_File) :: f
    type(MPI_Request) :: r(2)
    type(MPI_Status) :: s(2)
    call MPI_File_open(w, 'data', ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_INFO_NULL, f)
    call MPI_File_set_view(f, int(rank * 4096, MPI_OFFSET_KIND), MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
    call MPI_File_write_at_all(f, 0_MPI_OFFSET_KIND, a, 1, vec, MPI_STATUS_IGNORE)          ! 120
    call MPI_File_iwrite_at(f, 100_MPI_OFFSET_KIND, a, 200, MPI_INTEGER, r(1))               ! 800
    call MPI_Wait(r(1), s(1))                                                               ! I/O, not a call of MPI
    call MPI_File_iread_at(f, 100_MPI_OFFSET_KIND, b, 200, MPI_INTEGER, r(1))                ! 800 read
    call MPI_Irecv(c, 3, MPI_INTEGER, rank, 90, w, r(2)); call made('MPI_Irecv')
    call MPI_Send(a, 3, MPI_INTEGER, rank, 90, w); call sends('MPI_Send', rank, 12)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE); call gets('MPI_Waitall', rank, 12)   ! mixed: MPI
    call MPI_File_iread_at(f, 0_MPI_OFFSET_KIND, b, 10, MPI_INTEGER, r(1))
    call MPI_File_iwrite_at(f, 500_MPI_OFFSET_KIND, a, 10, MPI_INTEGER, r(2))
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)                                            ! I/O alone
    call MPI_File_write_at_all_begin(f, 700_MPI_OFFSET_KIND, a, 10, MPI_INTEGER)
    call MPI_File_write_at_all_end(f, a, s(1))
    call MPI_File_close(f)
  end subroutine

  subroutine big()
    integer, allocatable, asynchronous :: x(:)
    integer :: sizes(9), k
    sizes = [15, 16, 255, 256, 65535, 65536, 1048576, 16777215, 16777216]
    allocate (x(5 * 1024 * 1024))
    x = 0
    do k = 1, 9
      if (mod(rank, 2) == 0) then
        call MPI_Send(x, sizes(k), MPI_BYTE, other, k, w); call sends('MPI_Send', other, sizes(k))
      else
        call MPI_Recv(x, sizes(k), MPI_BYTE, other, k, w, MPI_STATUS_IGNORE); call gets('MPI_Recv', other, sizes(k))
      end if
    end do
  end subroutine
end program mpi_book
