/* C++11 for semcache/tasks.h: arrays that free themselves, regions with the type of their elements, tasks in one
 * expression, errors as exceptions.  Everything is inline.
 *
 *     semcache::array<double> x(n), y(n);
 *     semcache::run(add, nullptr, alpha, semcache::any_device, semcache::read(x.region()), semcache::readwrite(y.region()));
 *
 * Ownership, order and thread safety are those of tasks.h. */
#ifndef SEMCACHE_TASKS_HPP
#define SEMCACHE_TASKS_HPP

#include <complex>
#include <cstddef>
#include <new>
#include <stdexcept>
#include <type_traits>

#include "semcache/tasks.h"

namespace semcache {

/* A status other than SEMCACHE_OK. */
class error : public std::runtime_error {
public:
    explicit error(enum semcache_status status) : std::runtime_error(semcache_status_name(status)), status_(status) {}
    enum semcache_status status() const { return status_; }

private:
    enum semcache_status status_;
};

inline void check(enum semcache_status status)
{
    if (status != SEMCACHE_OK)
        throw error(status);
}

/* The type of an element: of 4, 8 or 16 bytes.  Devices do not interpret data of tasks. */
template <class T> struct type_of {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "elements of 4, 8 or 16 bytes");
    static_assert(std::is_trivially_copyable<T>::value, "elements that can be copied as bytes");
    static constexpr enum semcache_type value = sizeof(T) == 4 ? SEMCACHE_FLOAT32
                                                : sizeof(T) == 8 ? SEMCACHE_FLOAT64 : SEMCACHE_COMPLEX128;
};

template <class T> semcache_region region(T *memory, int64_t n)
{
    semcache_region r;

    semcache_region_1d(&r, memory, type_of<T>::value, n);
    return r;
}

template <class T> semcache_region region(T *memory, int64_t rows, int64_t cols, int64_t ld)
{
    semcache_region r;

    semcache_region_2d(&r, memory, type_of<T>::value, rows, cols, ld);
    return r;
}

template <class T>
semcache_region region(T *memory, int64_t rows, int64_t cols, int64_t planes, int64_t ld, int64_t plane)
{
    semcache_region r;

    semcache_region_3d(&r, memory, type_of<T>::value, rows, cols, planes, ld, plane);
    return r;
}

/* Memory that devices can cache, not initialised; freed with the object, which waits for device work. */
template <class T> class array {
public:
    explicit array(std::size_t n) : memory_(static_cast<T *>(semcache_alloc(n * sizeof(T)))), size_(n)
    {
        static_assert(std::is_trivially_destructible<T>::value, "elements without destructor");
        if (!memory_)
            throw std::bad_alloc();
    }
    array(array &&other) noexcept : memory_(other.memory_), size_(other.size_)
    {
        other.memory_ = nullptr;
        other.size_ = 0;
    }
    array(const array &) = delete;
    array &operator=(const array &) = delete;
    ~array() { semcache_free(memory_); }

    T *data() { return memory_; }
    const T *data() const { return memory_; }
    std::size_t size() const { return size_; }
    T &operator[](std::size_t i) { return memory_[i]; }
    const T &operator[](std::size_t i) const { return memory_[i]; }
    T *begin() { return memory_; }
    T *end() { return memory_ + size_; }
    semcache_region region() const { return semcache::region(memory_, static_cast<int64_t>(size_)); }

private:
    T *memory_;
    std::size_t size_;
};

/* For containers: memory of semcache_malloc, which kernels of the program use at the host's address (lend).  Each
 * allocation takes whole units of 2 MiB. */
template <class T> struct allocator {
    using value_type = T;

    allocator() noexcept = default;
    template <class U> allocator(const allocator<U> &) noexcept {}
    T *allocate(std::size_t n)
    {
        void *memory = n > static_cast<std::size_t>(-1) / sizeof(T) ? nullptr : semcache_malloc(n * sizeof(T));

        if (!memory)
            throw std::bad_alloc();
        return static_cast<T *>(memory);
    }
    void deallocate(T *memory, std::size_t) noexcept { semcache_free(memory); }
};
template <class T, class U> bool operator==(const allocator<T> &, const allocator<U> &) noexcept { return true; }
template <class T, class U> bool operator!=(const allocator<T> &, const allocator<U> &) noexcept { return false; }

/* Lends the blocks of the addresses to work on a CUDA device (semcache_lend).  False: there is no device, or no address
 * on a device, and the caller computes elsewhere. */
template <class... Elements> bool lend(int device, const Elements *...memory)
{
    const void *const list[] = {memory...};
    enum semcache_status status = semcache_lend(device, list, static_cast<int>(sizeof...(memory)));

    if (status == SEMCACHE_ERROR_NO_DEVICE || status == SEMCACHE_ERROR_UNSUPPORTED)
        return false;
    check(status);
    return true;
}

/* An operand of a task: a region by value, and its access. */
struct operand {
    semcache_region region;
    enum semcache_mode mode;
};
inline operand read(const semcache_region &r) { return operand{r, SEMCACHE_READ}; }
inline operand write(const semcache_region &r) { return operand{r, SEMCACHE_WRITE}; }
inline operand readwrite(const semcache_region &r) { return operand{r, SEMCACHE_READWRITE}; }

enum : int { any_device = SEMCACHE_ANY_DEVICE, host = SEMCACHE_HOST };

/* Runs a task: `kernel` for GPUs and `on_host` for the host and emulated devices, one of which may be nullptr.  Returns
 * the place.  The arguments are copied as bytes. */
template <class Arguments, class... Operands>
int run(semcache_function *kernel, semcache_function *on_host, const Arguments &arguments, int place,
        const Operands &...operands)
{
    static_assert(std::is_trivially_copyable<Arguments>::value, "arguments that can be copied as bytes");
    static_assert(sizeof(Arguments) <= SEMCACHE_ARGUMENTS_MAX, "arguments of at most SEMCACHE_ARGUMENTS_MAX bytes");
    static_assert(sizeof...(Operands) > 0 && sizeof...(Operands) <= SEMCACHE_OPERANDS_MAX,
                  "1 to SEMCACHE_OPERANDS_MAX operands");
    const semcache_operand list[] = {semcache_operand{&operands.region, operands.mode}...};
    semcache_task task = {sizeof task, kernel, on_host, list, static_cast<int>(sizeof...(Operands)), &arguments,
                          sizeof arguments, place, nullptr, 0, 0};
    int ran;

    check(semcache_run(&task, &ran));
    return ran;
}

/* A view as a typed array with three indices, for functions on the host. */
template <class T> class accessor {
public:
    explicit accessor(const semcache_view &view) : view_(view) {}
    T &operator()(int64_t i, int64_t j = 0, int64_t k = 0) const
    {
        return static_cast<T *>(view_.memory)[i + j * view_.ld + k * view_.plane];
    }
    int64_t rows() const { return view_.rows; }
    int64_t cols() const { return view_.cols; }
    int64_t planes() const { return view_.planes; }

private:
    semcache_view view_;
};

/* A token, which ends with the object.  The end of an object cannot report an error: release() can. */
class token {
public:
    template <class... Operands> explicit token(int place, const Operands &...operands)
    {
        static_assert(sizeof...(Operands) > 0 && sizeof...(Operands) <= SEMCACHE_OPERANDS_MAX,
                      "1 to SEMCACHE_OPERANDS_MAX operands");
        const semcache_operand list[] = {semcache_operand{&operands.region, operands.mode}...};

        token_.size = sizeof token_;
        check(semcache_token_acquire(list, static_cast<int>(sizeof...(Operands)), place, &token_));
    }
    token(token &&other) noexcept : token_(other.token_) { other.token_.id = 0; }
    token(const token &) = delete;
    token &operator=(const token &) = delete;
    ~token()
    {
        if (token_.id)
            semcache_token_release(&token_);
    }

    void release() { check(semcache_token_release(&token_)); }
    void cancel() { check(semcache_token_cancel(&token_)); }
    const semcache_view &operator[](std::size_t i) const { return token_.views[i]; }
    int device() const { return token_.place.device; }
    void *stream() const { return token_.place.stream; }

private:
    semcache_token token_;
};

} // namespace semcache

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
