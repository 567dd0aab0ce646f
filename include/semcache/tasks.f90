! Fortran for semcache/tasks.h: the types, constants and functions of the header under the same names.
!
! A program compiles this file together with its own files.  A function of a task has the interface
! semcache_function, and is passed as c_funloc(name).  The header has the meaning of every argument.
module semcache_tasks
    use, intrinsic :: iso_c_binding
    implicit none

    integer(c_int), parameter :: SEMCACHE_OK = 0, SEMCACHE_ERROR_INVALID = 1, SEMCACHE_ERROR_MEMORY = 2, &
        SEMCACHE_ERROR_NO_DEVICE = 3, SEMCACHE_ERROR_TOO_LATE = 4, SEMCACHE_ERROR_UNSUPPORTED = 5, &
        SEMCACHE_ERROR_DEVICE = 6, SEMCACHE_ERROR_IO = 7
    integer(c_int), parameter :: SEMCACHE_READ = 1, SEMCACHE_WRITE = 2, SEMCACHE_READWRITE = 3
    integer(c_int), parameter :: SEMCACHE_FLOAT32 = 0, SEMCACHE_FLOAT64 = 1, SEMCACHE_COMPLEX64 = 2, &
        SEMCACHE_COMPLEX128 = 3
    integer(c_int), parameter :: SEMCACHE_ANY_DEVICE = -1, SEMCACHE_HOST = -2
    integer(c_int), parameter :: SEMCACHE_ROWS = 0, SEMCACHE_COLUMNS = 1, SEMCACHE_PLANES = 2, SEMCACHE_BLOCKS = 3, &
        SEMCACHE_OTHER = 4
    integer(c_int), parameter :: SEMCACHE_NORMAL = 0, SEMCACHE_READ_MOSTLY = 1, SEMCACHE_WRITE_ONCE = 2, &
        SEMCACHE_KEEP = 3, SEMCACHE_DROP = 4
    integer(c_int), parameter :: SEMCACHE_OPERANDS_MAX = 8

    ! `size` is c_sizeof of the variable.
    type, bind(c) :: semcache_region
        integer(c_size_t) :: size
        type(c_ptr) :: memory
        integer(c_int) :: element_type
        integer(c_int64_t) :: rows, cols, planes, ld, plane
        type(c_ptr) :: ranges
        integer(c_int64_t) :: range_count
    end type

    type, bind(c) :: semcache_range
        integer(c_int64_t) :: first, count
    end type

    type, bind(c) :: semcache_view
        type(c_ptr) :: memory
        integer(c_int64_t) :: rows, cols, planes, ld, plane
        integer(c_int) :: element_type, mode
    end type

    type, bind(c) :: semcache_place
        integer(c_size_t) :: size
        integer(c_int) :: device
        type(c_ptr) :: stream
    end type

    type, bind(c) :: semcache_operand
        type(c_ptr) :: region ! c_loc of a semcache_region
        integer(c_int) :: mode
    end type

    type, bind(c) :: semcache_task
        integer(c_size_t) :: size
        type(c_funptr) :: kernel = c_null_funptr, host = c_null_funptr
        type(c_ptr) :: operands = c_null_ptr ! c_loc of the first semcache_operand
        integer(c_int) :: count = 0
        type(c_ptr) :: arguments = c_null_ptr
        integer(c_size_t) :: bytes = 0
        integer(c_int) :: device = SEMCACHE_ANY_DEVICE
        type(c_ptr) :: name = c_null_ptr ! of characters that end with c_null_char
        real(c_double) :: host_seconds = 0, device_seconds = 0
    end type

    type, bind(c) :: semcache_decomposition
        integer(c_size_t) :: size
        integer(c_int) :: cut = SEMCACHE_ROWS
        integer(c_int64_t) :: parts = 0
        integer(c_int) :: devices = 0
        integer(c_int64_t) :: block_rows = 0, block_cols = 0
        integer(c_int) :: grid_rows = 0, grid_cols = 0
        type(c_funptr) :: part = c_null_funptr
        type(c_ptr) :: context = c_null_ptr
    end type

    type, bind(c) :: semcache_token
        integer(c_size_t) :: size
        integer(c_int64_t) :: id = 0
        type(semcache_place) :: place
        integer(c_int) :: count = 0
        type(semcache_view) :: views(SEMCACHE_OPERANDS_MAX)
    end type

    abstract interface
        subroutine semcache_function(place, views, count, arguments) bind(c)
            import
            type(semcache_place), intent(in) :: place
            type(semcache_view), intent(in) :: views(*)
            integer(c_int), value :: count
            type(c_ptr), value :: arguments
        end subroutine
    end interface

    interface
        integer(c_int) function semcache_init() bind(c)
            import
        end function
        integer(c_int) function semcache_device_count() bind(c)
            import
        end function
        type(c_ptr) function semcache_alloc(bytes) bind(c)
            import
            integer(c_size_t), value :: bytes
        end function
        type(c_ptr) function semcache_malloc(bytes) bind(c)
            import
            integer(c_size_t), value :: bytes
        end function
        integer(c_int) function semcache_lend(device, memory, count) bind(c)
            import
            integer(c_int), value :: device, count
            type(c_ptr), intent(in) :: memory(*)
        end function
        subroutine semcache_free(memory) bind(c)
            import
            type(c_ptr), value :: memory
        end subroutine
        subroutine semcache_region_1d(region, memory, element_type, n) bind(c)
            import
            type(semcache_region), intent(out) :: region
            type(c_ptr), value :: memory
            integer(c_int), value :: element_type
            integer(c_int64_t), value :: n
        end subroutine
        subroutine semcache_region_2d(region, memory, element_type, rows, cols, ld) bind(c)
            import
            type(semcache_region), intent(out) :: region
            type(c_ptr), value :: memory
            integer(c_int), value :: element_type
            integer(c_int64_t), value :: rows, cols, ld
        end subroutine
        subroutine semcache_region_3d(region, memory, element_type, rows, cols, planes, ld, plane) bind(c)
            import
            type(semcache_region), intent(out) :: region
            type(c_ptr), value :: memory
            integer(c_int), value :: element_type
            integer(c_int64_t), value :: rows, cols, planes, ld, plane
        end subroutine
        subroutine semcache_region_ranges(region, memory, element_type, ranges, count) bind(c)
            import
            type(semcache_region), intent(out) :: region
            type(c_ptr), value :: memory
            integer(c_int), value :: element_type
            type(c_ptr), value :: ranges ! c_loc of the first semcache_range
            integer(c_int64_t), value :: count
        end subroutine
        integer(c_int) function semcache_token_acquire(operands, count, device, token) bind(c)
            import
            type(semcache_operand), intent(in) :: operands(*)
            integer(c_int), value :: count, device
            type(semcache_token), intent(inout) :: token
        end function
        integer(c_int) function semcache_token_release(token) bind(c)
            import
            type(semcache_token), intent(inout) :: token
        end function
        integer(c_int) function semcache_token_cancel(token) bind(c)
            import
            type(semcache_token), intent(inout) :: token
        end function
        integer(c_int) function semcache_region_prefetch(region, place) bind(c)
            import
            type(semcache_region), intent(in) :: region
            integer(c_int), value :: place
        end function
        integer(c_int) function semcache_advise(region, advice) bind(c)
            import
            type(semcache_region), intent(in) :: region
            integer(c_int), value :: advice
        end function
        integer(c_int) function semcache_region_wait(region) bind(c)
            import
            type(semcache_region), intent(in) :: region
        end function
        integer(c_int) function semcache_region_resident(region, place, bytes) bind(c)
            import
            type(semcache_region), intent(in) :: region
            integer(c_int), value :: place
            integer(c_int64_t), intent(out) :: bytes
        end function
        integer(c_int64_t) function semcache_part_count(decomposition, whole) bind(c)
            import
            type(semcache_decomposition), intent(in) :: decomposition
            type(semcache_region), intent(in) :: whole
        end function
        integer(c_int) function semcache_part(decomposition, whole, p, halo, part, device) bind(c)
            import
            type(semcache_decomposition), intent(in) :: decomposition
            type(semcache_region), intent(in) :: whole
            integer(c_int64_t), value :: p, halo
            type(semcache_region), intent(out) :: part
            integer(c_int), intent(out) :: device
        end function
        integer(c_int) function semcache_distribute(decomposition, whole) bind(c)
            import
            type(semcache_decomposition), intent(in) :: decomposition
            type(semcache_region), intent(in) :: whole
        end function
        integer(c_int) function semcache_run(task, ran) bind(c)
            import
            type(semcache_task), intent(in) :: task
            integer(c_int), intent(out) :: ran
        end function
    end interface
end module
! SPDX-License-Identifier: BSD-2-Clause
