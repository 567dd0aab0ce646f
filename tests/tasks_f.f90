! The Fortran module semcache/tasks.f90: columns of a matrix distributed, a task on each part.  Started by tasks_f.t.
module kernels
    use semcache_tasks
    implicit none
contains
    ! views(1) := views(1) + amount
    subroutine add(place, views, count, arguments) bind(c)
        type(semcache_place), intent(in) :: place
        type(semcache_view), intent(in) :: views(*)
        integer(c_int), value :: count
        type(c_ptr), value :: arguments
        real(c_double), pointer :: a(:, :), amount

        call c_f_pointer(arguments, amount)
        call c_f_pointer(views(1)%memory, a, [views(1)%ld, views(1)%cols])
        a(1:views(1)%rows, :) = a(1:views(1)%rows, :) + amount
        if (count /= 1 .or. place%size == 0) a = -1
    end subroutine
end module

program tasks_f
    use kernels
    implicit none
    integer(c_int64_t), parameter :: n = 200
    type(semcache_decomposition) :: columns
    type(semcache_region) :: whole
    type(semcache_region), target :: part
    type(semcache_operand), target :: operand
    type(semcache_task) :: task
    real(c_double), pointer :: a(:, :)
    real(c_double), target :: amount
    type(c_ptr) :: memory
    integer(c_int) :: status, ran
    integer(c_int64_t) :: p, bytes, resident
    type(semcache_range), target :: ranges(2) = [semcache_range(n, 2), semcache_range(2, 3)]
    type(semcache_token) :: token
    real(c_double), pointer :: taken(:)
    logical :: good

    status = semcache_init()
    memory = semcache_alloc(int(n * n * 8, c_size_t))
    call c_f_pointer(memory, a, [n, n])
    a = 1
    call semcache_region_2d(whole, memory, SEMCACHE_FLOAT64, n, n, n)
    columns%size = c_sizeof(columns)
    columns%cut = SEMCACHE_COLUMNS
    columns%parts = 4
    status = semcache_distribute(columns, whole)
    good = status == SEMCACHE_OK .or. semcache_device_count() == 0
    good = good .and. semcache_part_count(columns, whole) == 4
    task%size = c_sizeof(task)
    task%kernel = c_funloc(add)
    task%host = c_funloc(add)
    task%count = 1
    task%arguments = c_loc(amount)
    task%bytes = 8
    do p = 0, 3
        amount = real(p, c_double)
        good = good .and. semcache_part(columns, whole, p, 0_c_int64_t, part, task%device) == SEMCACHE_OK
        operand%region = c_loc(part)
        operand%mode = SEMCACHE_READWRITE
        task%operands = c_loc(operand)
        good = good .and. semcache_run(task, ran) == SEMCACHE_OK .and. ran == task%device
    end do
    resident = 0
    good = good .and. semcache_region_resident(whole, SEMCACHE_HOST, bytes) == SEMCACHE_OK
    if (semcache_device_count() == 0) resident = n * n * 8
    good = good .and. bytes == resident
    good = good .and. semcache_region_prefetch(whole, SEMCACHE_HOST) == SEMCACHE_OK
    good = good .and. semcache_region_wait(whole) == SEMCACHE_OK
    do p = 1, n
        good = good .and. .not. any(abs(a(:, p) - (1 + (p - 1) / 50)) > 0)
    end do
    call semcache_region_ranges(whole, memory, SEMCACHE_FLOAT64, c_loc(ranges), 2_c_int64_t)
    part = whole
    token%size = c_sizeof(token)
    good = good .and. semcache_token_acquire([operand], 1, 0, token) == SEMCACHE_OK .and. token%views(1)%rows == 5
    call c_f_pointer(token%views(1)%memory, taken, [5])
    taken = 7
    good = good .and. semcache_token_release(token) == SEMCACHE_OK
    good = good .and. all(abs(a(3:6, 1) - [7, 7, 7, 1]) <= 0) .and. all(abs(a(1:3, 2) - [7, 7, 1]) <= 0)
    call semcache_free(memory)
    memory = semcache_malloc(int(n * n * 8, c_size_t)) ! no device of this test has memory of one address
    call c_f_pointer(memory, a, [n, n])
    a = 2
    status = semcache_lend(0, [memory], 1)
    good = good .and. status == merge(SEMCACHE_ERROR_NO_DEVICE, SEMCACHE_ERROR_UNSUPPORTED, semcache_device_count() == 0)
    good = good .and. all(abs(a - 2) <= 0)
    call semcache_free(memory)
    if (.not. good) stop 1
    print '(a)', 'ok'
end program
! SPDX-License-Identifier: BSD-2-Clause
