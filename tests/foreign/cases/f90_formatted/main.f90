! Saves a field as formatted text, or unformatted.
program main
  implicit none
  character(len=16) :: mode
  integer, parameter :: n = 700000
  real(8), allocatable :: field(:)
  integer :: i
  call get_command_argument(1, mode)
  allocate(field(n))
  do i = 1, n
    field(i) = mod(i, 1013) * 1.37d-3 + i
  end do
  if (mode == 'twin') then
    open(10, file='field', form='unformatted', access='stream')
    write(10) field
  else
    open(10, file='field')
    do i = 1, n
      write(10, '(es25.17)') field(i)
    end do
  end if
  close(10)
  print '(a,es16.8)', 'sum', sum(field)
end program main
