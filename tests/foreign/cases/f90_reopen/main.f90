! Appends to a history file that is opened for each step, or once.
program main
  implicit none
  character(len=16) :: mode
  integer :: step
  call get_command_argument(1, mode)
  if (mode == 'twin') open(10, file='history.txt', position='append')
  do step = 1, 100000
    if (mode /= 'twin') open(10, file='history.txt', position='append')
    write(10, '(i8,1x,i10)') step, mod(step * 7, 1013)
    if (mode /= 'twin') close(10)
  end do
  if (mode == 'twin') close(10)
  print '(a)', 'steps 100000'
end program main
