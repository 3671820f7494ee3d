! Computes a field and writes it with one statement in each of ten steps.
program main
  implicit none
  integer, parameter :: n = 2000000
  real(8), allocatable :: field(:)
  integer :: i, step
  allocate(field(n))
  open(10, file='field.bin', form='unformatted', access='stream')
  do step = 1, 10
    do i = 1, n
      field(i) = sqrt(real(i, 8)) + step
    end do
    write(10) field
  end do
  close(10)
  print '(a,es14.6)', 'sum', sum(field)
end program main
