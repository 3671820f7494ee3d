! Regions marked in Fortran: by the module iolens, and with -DPAT by CrayPAT's names.
program region_marks
#ifndef PAT
  use iolens
#endif
  implicit none
  integer :: i
#ifdef PAT
  integer :: status
  integer(kind=8) :: bytes
#endif
  open(unit=7, file="fortran.txt")
#ifdef PAT
  do i = 1, 3
    call pat_region_begin(1, "outer  ", status)
    call pat_region_begin(2, "inner", status)
    call pat_region_end(2, status)
    call pat_region_end(1, status)
  end do
  call pat_record(0, status)
  call pat_region_begin(3, "unseen", status)
  call pat_region_end(3, status)
  call pat_record(1, status)
  call pat_flush_buffer(bytes, status)
#else
  do i = 1, 3
    call iolens_region_begin(1, "outer  ")
    call iolens_region_begin(2, "inner")
    call iolens_region_end(2)
    call iolens_region_end(1)
  end do
  call iolens_record(0)
  call iolens_region_begin(3, "unseen")
  call iolens_region_end(3)
  call iolens_record(1)
  call iolens_flush()
#endif
  write(7, *) "text"
  close(7)
end program
