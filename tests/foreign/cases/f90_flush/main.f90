! Writes the residual of each step and flushes the unit each time, or never.
program main
  implicit none
  character(len=16) :: mode
  integer :: step
  call get_command_argument(1, mode)
  open(10, file='residual.txt')
  do step = 1, 400000
    write(10, '(i8,1x,i10)') step, mod(step * 7, 1013)
    if (mode /= 'twin') flush(10)
  end do
  close(10)
  print '(a)', 'steps 400000'
end program main
