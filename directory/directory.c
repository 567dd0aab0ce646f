/* Level 1: matrices by host address, in an array sorted by base.  Extents never overlap (rule D1): a binary search
 * finds the matrices that meet a range. */
#include "directory/directory.h"

#include <stdlib.h>
#include <string.h>

struct sc_directory_limits sc_directory_limits = {1, UINT64_C(1) << 40, 4096};

uint64_t sc_directory_steps;

static struct sc_matrix **index_;
static size_t count_, capacity_; /* count_: stored under the coherence lock, read by anyone */

/* Position of the first matrix with an end after lo. */
static size_t first_after(uintptr_t lo)
{
    size_t a = 0, b = count_;

    while (a < b) {
        size_t middle = a + (b - a) / 2;

        sc_directory_steps++;
        if (sc_matrix_end(index_[middle]) <= lo)
            a = middle + 1;
        else
            b = middle;
    }
    return a;
}

int sc_directory_find(uintptr_t lo, uintptr_t hi, size_t *first)
{
    size_t i = first_after(lo);
    int n = 0;

    *first = i;
    while (i < count_ && index_[i]->base < hi) {
        i++;
        n++;
    }
    return n;
}

struct sc_matrix *sc_directory_next(uintptr_t lo, uintptr_t hi)
{
    size_t i = first_after(lo);

    return i < count_ && index_[i]->base < hi ? index_[i] : NULL;
}

struct sc_matrix *sc_directory_at(size_t position)
{
    sc_assert(position < count_);
    return index_[position];
}

size_t sc_directory_count(void)
{
    return __atomic_load_n(&count_, __ATOMIC_ACQUIRE);
}

enum sc_status sc_directory_insert(struct sc_matrix *matrix)
{
    size_t at = first_after(matrix->base);

    sc_assert(matrix->bytes > 0 && (at == count_ || sc_matrix_end(matrix) <= index_[at]->base)); /* D1 */
    if (!sc_noted_reserve(count_ + 1))
        return SC_ERR_MEMORY;
    if (count_ == capacity_) {
        size_t capacity = capacity_ ? 2 * capacity_ : 64;
        struct sc_matrix **grown = realloc(index_, capacity * sizeof *grown);

        if (!grown)
            return SC_ERR_MEMORY;
        index_ = grown;
        capacity_ = capacity;
    }
    memmove(index_ + at + 1, index_ + at, (count_ - at) * sizeof *index_);
    index_[at] = matrix;
    __atomic_store_n(&count_, count_ + 1, __ATOMIC_RELEASE);
    return SC_OK;
}

void sc_directory_remove(struct sc_matrix *matrix)
{
    size_t at = first_after(matrix->base);

    sc_assert(at < count_ && index_[at] == matrix && !matrix->users);
    if (at < count_ && index_[at] == matrix) {
        memmove(index_ + at, index_ + at + 1, (count_ - at - 1) * sizeof *index_);
        __atomic_store_n(&count_, count_ - 1, __ATOMIC_RELEASE);
    }
}
/* SPDX-License-Identifier: BSD-2-Clause */
