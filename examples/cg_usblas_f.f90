! Conjugate gradients for the 7-point stencil on a cube in Fortran, by the Sparse BLAS of the BLAS standard and the BLAS.
!
!     cg_usblas_f [n [iterations]]
!
! n: about how many points.  The names are those of librsb, which stand for the generic ones of its module blas_sparse.
program cg_usblas_f
  implicit none
  integer, parameter :: dp = kind(1d0)
  integer, parameter :: blas_no_trans = 111, blas_lower_symmetric = 237
  real(dp), allocatable :: b(:), x(:), r(:), p(:), q(:)
  real(dp) :: rr, old, alpha, beta, error, seconds
  real(dp), external :: ddot
  integer :: a, n, side, iterations, k, status
  integer(8) :: first, now, rate
  logical :: good

  side = argument(1, 30000)
  iterations = argument(2, 200)
  if (side < 1 .or. side > 200000000 .or. iterations < 1) stop 2
  side = ceiling(real(side, dp)**(1 / 3d0) - 1d-9)
  n = side**3
  allocate (b(n), x(n), r(n), p(n), q(n))
  call fill
  do k = 1, n
    b(k) = 1 + mod(k - 1, 3)
  end do
  x = 0
  q = 0

  call system_clock(first, rate)
  call dcopy(n, b, 1, r, 1)
  call dcopy(n, r, 1, p, 1)
  rr = ddot(n, r, 1, r, 1)
  do k = 1, iterations
    if (rr <= 1d-24) exit
    old = rr
    call dscal(n, 0d0, q, 1)
    call blas_dusmv(blas_no_trans, 1d0, a, p, 1, q, 1, status)
    if (status /= 0) stop 1
    alpha = rr / ddot(n, p, 1, q, 1)
    call daxpy(n, alpha, p, 1, x, 1)
    call daxpy(n, -alpha, q, 1, r, 1)
    rr = ddot(n, r, 1, r, 1)
    beta = rr / old
    call dscal(n, beta, p, 1)
    call daxpy(n, 1d0, r, 1, p, 1)
    if (k == 1 .and. iterations > 1) call system_clock(first)
  end do
  call system_clock(now)
  seconds = real(now - first, dp) / real(rate, dp) / max(iterations - 1, 1)
  call blas_usds(a, status)

  error = largest_error()
  good = status == 0 .and. error < 1d-9 + 2 * sqrt(rr)
  print '(a,i0,a,i0,a,es9.3,a,es9.3,a,f0.9,a,a)', 'cg_usblas_f n=', n, ' iterations=', iterations, ' residual=', &
    sqrt(rr), ' error=', error, ' seconds_per_iteration=', seconds, ' ', trim(merge('ok   ', 'WRONG', good))
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

  ! The matrix, by its lower triangle: a point, and its neighbours before it along x, y and z.
  subroutine fill
    integer :: i, entries, wrong, columns(4)
    real(dp) :: values(4)

    call blas_duscr_begin(n, n, a, status)
    if (status /= 0) stop 1
    call blas_ussp(a, blas_lower_symmetric, status)
    wrong = abs(status)
    do i = 1, n
      values = [6.01_dp, -1.0_dp, -1.0_dp, -1.0_dp]
      columns(1) = i
      entries = 1
      call neighbour(mod(i - 1, side), i - 1, entries, columns)
      call neighbour(mod((i - 1) / side, side), i - side, entries, columns)
      call neighbour((i - 1) / side**2, i - side**2, entries, columns)
      call blas_duscr_insert_row(a, i, entries, values, columns, status)
      wrong = wrong + abs(status)
    end do
    call blas_duscr_end(a, status)
    if (wrong + abs(status) /= 0) stop 1
  end subroutine fill

  subroutine neighbour(place, column, entries, columns)
    integer, intent(in) :: place, column
    integer, intent(inout) :: entries, columns(4)

    if (place == 0) return
    entries = entries + 1
    columns(entries) = column
  end subroutine neighbour

  ! The largest component of b - A x, without the library.
  real(dp) function largest_error()
    integer :: i
    real(dp) :: rest

    largest_error = 0
    do i = 1, n
      rest = b(i) - 6.01_dp * x(i)
      if (mod(i - 1, side) > 0) rest = rest + x(i - 1)
      if (mod(i - 1, side) < side - 1) rest = rest + x(i + 1)
      if (mod((i - 1) / side, side) > 0) rest = rest + x(i - side)
      if (mod((i - 1) / side, side) < side - 1) rest = rest + x(i + side)
      if ((i - 1) / side**2 > 0) rest = rest + x(i - side**2)
      if ((i - 1) / side**2 < side - 1) rest = rest + x(i + side**2)
      if (.not. abs(rest) <= largest_error) largest_error = abs(rest)
    end do
  end function largest_error

end program cg_usblas_f
! SPDX-License-Identifier: BSD-2-Clause
