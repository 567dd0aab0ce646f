! Messages and collectives by Fortran's names, on arrays that a device has computed; a part of one, and two by their
! addresses behind MPI_BOTTOM.
program fortran
    use mpi
    implicit none
    integer, parameter :: n = 50000
    double precision, allocatable :: a(:), b(:), c(:, :)
    integer :: rank, ranks, error, next, before, i, wrong, all_wrong, pair, requests(2), statuses(MPI_STATUS_SIZE, 2)
    integer(kind=MPI_ADDRESS_KIND) :: at(2)

    call mpi_init(error)
    call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
    call mpi_comm_size(MPI_COMM_WORLD, ranks, error)
    next = mod(rank + 1, ranks)
    before = mod(rank + ranks - 1, ranks)
    wrong = 0
    allocate (a(n), b(n), c(100, 500))

    call fill(a, n, rank)
    call fill(b, n, 77)
    call mpi_irecv(b, n, MPI_DOUBLE_PRECISION, before, 1, MPI_COMM_WORLD, requests(1), error)
    call mpi_isend(a, n, MPI_DOUBLE_PRECISION, next, 1, MPI_COMM_WORLD, requests(2), error)
    call mpi_waitall(2, requests, statuses, error)
    call check('mpi_irecv', b, n, before)

    call fill(b, n, rank)
    call mpi_bcast(b, n, MPI_DOUBLE_PRECISION, ranks - 1, MPI_COMM_WORLD, error)
    call check('mpi_bcast', b, n, ranks - 1)

    call fill(a, n, 3)
    call mpi_allreduce(a, b, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, error)
    call check('mpi_allreduce', b, n, 3)
    call fill(b, n, 4)
    call mpi_allreduce(MPI_IN_PLACE, b, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, error)
    call check('mpi_allreduce in place', b, n, 4)

    call fill(c, n, rank)
    call fill(b, n, 77)
    call mpi_sendrecv(c(1, 11), 10000, MPI_DOUBLE_PRECISION, next, 2, b(1001), 10000, MPI_DOUBLE_PRECISION, before, 2, &
        MPI_COMM_WORLD, statuses(:, 1), error)
    if (any(b(1001:11000) /= [(1000000d0 * before + 1000 + i, i=1, 10000)])) call bad('part of an array')

    call fill(a, n, rank)
    call fill(b, n, rank + 10)
    call mpi_get_address(a, at(1), error)
    call mpi_get_address(b, at(2), error)
    call mpi_type_create_hindexed(2, [n, n], at, MPI_DOUBLE_PRECISION, pair, error)
    call mpi_type_commit(pair, error)
    call mpi_sendrecv_replace(MPI_BOTTOM, 1, pair, next, 3, before, 3, MPI_COMM_WORLD, statuses(:, 1), error)
    call check('MPI_BOTTOM', a, n, before)
    call check('MPI_BOTTOM, the second', b, n, before + 10)

    call mpi_type_free(pair, error)
    call mpi_reduce(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
    if (rank == 0) print '(a,i0,a)', 'some checks, ', all_wrong, ' wrong'
    call mpi_finalize(error)
contains
    subroutine fill(x, n, whose) ! by a device; the host's pages hold half of that
        integer, intent(in) :: n, whose
        double precision, intent(inout) :: x(n)

        x = [((1000000d0 * whose + i) / 2, i=1, n)]
        call dscal(n, 2d0, x, 1)
    end subroutine
    subroutine check(what, x, n, whose)
        character(*), intent(in) :: what
        integer, intent(in) :: n, whose
        double precision, intent(in) :: x(n)

        if (any(x /= [(1000000d0 * whose + i, i=1, n)])) call bad(what)
    end subroutine
    subroutine bad(what)
        character(*), intent(in) :: what

        wrong = wrong + 1
        print *, what, ' is wrong on rank ', rank
    end subroutine
end program
! SPDX-License-Identifier: BSD-2-Clause
