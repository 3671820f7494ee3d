! Finds the entry of each key: reads the file from its beginning for each key, or reads the file once.
program main
  implicit none
  character(len=16) :: mode
  integer, parameter :: n = 2000
  integer(8) :: values(n), total
  integer :: key, i
  call get_command_argument(1, mode)
  open(10, file='entries.txt')
  do i = 1, n
    write(10, '(i8,1x,i10)') i, mod(i * 7, 1013)
  end do
  total = 0
  if (mode == 'twin') then
    rewind(10)
    do i = 1, n
      read(10, '(8x,1x,i10)') values(i)
    end do
  end if
  do key = 1, n
    if (mode /= 'twin') then
      rewind(10)
      do i = 1, key
        read(10, '(8x,1x,i10)') values(key)
      end do
    end if
    total = total + values(key)
  end do
  close(10)
  print '(a,i12)', 'total', total
end program main
