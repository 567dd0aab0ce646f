! Solves A x = b by Jacobi's iteration in Fortran: x := x + (b - A x), the rows of A scaled to a unit diagonal.
!
!     jacobi_f [n [iterations]]
!
! The solution is all ones; the program checks that.
program jacobi_f
  implicit none
  integer, parameter :: dp = kind(1d0)
  real(dp), allocatable :: a(:,:), b(:), x(:), r(:)
  real(dp) :: norm, contraction, error, bound, seconds
  real(dp), external :: dnrm2
  integer :: n, iterations, k
  integer(8) :: first, now, rate
  logical :: good

  n = argument(1, 2000)
  iterations = argument(2, 100)
  if (n < 1 .or. iterations < 1) stop 2
  allocate (a(n, n), b(n), x(n), r(n))
  call generate

  call system_clock(first, rate)
  do k = 1, iterations
    call dcopy(n, b, 1, r, 1)
    call dgemv('N', n, n, -1d0, a, n, x, 1, 1d0, r, 1)
    norm = dnrm2(n, r, 1)
    call daxpy(n, 1d0, r, 1, x, 1)
    if (k == 1 .and. iterations > 1) call system_clock(first)
  end do
  call system_clock(now)
  seconds = real(now - first, dp) / real(rate, dp) / max(iterations - 1, 1)

  error = maxval(abs(x - 1))
  bound = 1.01_dp * contraction**iterations + 1d-11
  good = error <= bound .and. norm == norm .and. all(x == x)
  print '(a,i0,a,i0,a,es9.3,a,es9.3,a,es9.3,a,f0.6,a,a)', 'jacobi_f n=', n, ' iterations=', iterations, ' residual=', &
    norm, ' error=', error, ' bound=', bound, ' seconds_per_iteration=', seconds, ' ', trim(merge('ok   ', 'WRONG', good))
  if (.not. good) stop 1

contains

  ! Argument number `position` as an integer, or the default.
  integer function argument(position, default)
    integer, intent(in) :: position, default
    character(32) :: word
    integer :: status

    argument = default
    if (command_argument_count() < position) return
    call get_command_argument(position, word)
    read (word, *, iostat=status) argument
    if (status /= 0) argument = 0
  end function argument

  subroutine generate
    integer :: i, j

    b = 0
    do j = 1, n
      do i = 1, n
        a(i, j) = 1.6_dp / n * (iand(37*(i - 1) + 101*(j - 1), 1023) + 1) / 1024
      end do
      a(j, j) = 1
      b = b + a(:, j)
    end do
    contraction = maxval(b) - 1
    x = 0
  end subroutine generate

end program jacobi_f
! SPDX-License-Identifier: BSD-2-Clause
