! Marks for iolens, as in iolens.h: compile this file with the program, and `use iolens`. Without the profiler the
! routines do nothing. May be copied into any program.
module iolens
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: iolens_region_begin, iolens_region_end, iolens_record, iolens_flush

  abstract interface
    subroutine begins(id, label) bind(C)
      import :: c_int, c_char
      integer(c_int), value :: id
      character(kind=c_char), intent(in) :: label(*)
    end subroutine

    subroutine takes_a_number(number) bind(C)
      import :: c_int
      integer(c_int), value :: number
    end subroutine

    subroutine takes_nothing() bind(C)
    end subroutine
  end interface

  interface
    function dlsym(handle, name) bind(C, name="dlsym") result(found)
      import :: c_ptr, c_funptr, c_char
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr) :: found
    end function
  end interface

contains

  function place_of(name) result(found)
    character(len=*), intent(in) :: name
    type(c_funptr) :: found
    found = dlsym(c_null_ptr, name // c_null_char)
  end function

  ! The calling thread enters the region `id`, inside the one that it is in.
  subroutine iolens_region_begin(id, label)
    integer, intent(in) :: id
    character(len=*), intent(in) :: label
    type(c_funptr), save :: place
    logical, save :: looked = .false.
    procedure(begins), pointer :: real
    if (.not. looked) place = place_of("iolens_region_begin")
    looked = .true.
    if (.not. c_associated(place)) return
    call c_f_procpointer(place, real)
    call real(int(id, c_int), trim(label) // c_null_char)
  end subroutine

  ! It leaves the innermost region `id`.
  subroutine iolens_region_end(id)
    integer, intent(in) :: id
    type(c_funptr), save :: place
    logical, save :: looked = .false.
    procedure(takes_a_number), pointer :: real
    if (.not. looked) place = place_of("iolens_region_end")
    looked = .true.
    if (.not. c_associated(place)) return
    call c_f_procpointer(place, real)
    call real(int(id, c_int))
  end subroutine

  ! 0: nothing that the process does is counted from now on; else it is again.
  subroutine iolens_record(state)
    integer, intent(in) :: state
    type(c_funptr) :: place
    procedure(takes_a_number), pointer :: real
    place = place_of("iolens_record")
    if (.not. c_associated(place)) return
    call c_f_procpointer(place, real)
    call real(int(state, c_int))
  end subroutine

  ! What was counted until now shall be there even if the process is killed.
  subroutine iolens_flush()
    type(c_funptr) :: place
    procedure(takes_nothing), pointer :: real
    place = place_of("iolens_flush")
    if (.not. c_associated(place)) return
    call c_f_procpointer(place, real)
    call real()
  end subroutine
end module iolens
