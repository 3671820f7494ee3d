! Known shares of the time, in procedures of a module: 70 % and 30 %. Prints the seconds that each really had.
module shares
   implicit none
   integer, parameter :: wide = selected_int_kind(18)
contains
   function spent(seconds) result(took)
      real(8), intent(in) :: seconds
      real(8) :: took
      integer(wide) :: first, last, rate
      real(8), volatile :: total
      integer :: i
      call system_clock(first, rate)
      total = 0
      do
         do i = 1, 2000
            total = total + i
         end do
         call system_clock(last)
         took = real(last - first, 8)/real(rate, 8)
         if (took >= seconds) exit
      end do
   end function spent
   subroutine seventy()
      print '(a, f12.6)', 'seventy', spent(0.7d0)
   end subroutine seventy
   subroutine thirty()
      print '(a, f12.6)', 'thirty', spent(0.3d0)
   end subroutine thirty
end module shares

program main
   use shares
   implicit none
   call seventy()
   call thirty()
end program main
