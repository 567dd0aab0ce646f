/* Conversions to CSR: a thread per slot, row or entry. */
#define SC_SLOT_FN __host__ __device__ static inline
#include "device/slot.h"

#define FOR_EACH(i, n)                                                                                                 \
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += (int64_t)gridDim.x * blockDim.x)

/* For every slot: its row in the part, or `rows` if the slot is not valid in the part; the sort key (its column, or its
 * number); and its number. */
extern "C" __global__ void find_rows(const __grid_constant__ struct sc_csr_conversion c, int64_t slots, int *row,
                                     int *key, int *slot)
{
    FOR_EACH(i, slots) {
        struct sc_slot s;
        bool there = sc_slot_entry(&c, i, &s);

        row[i] = (int)(there ? s.row - c.row : c.rows);
        key[i] = (int)(c.sorted ? there ? s.col : 0 : i);
        slot[i] = (int)i;
    }
}

/* For sorted slots: first_row is the row of the first slot at every position, and `rows` for duplicates; at and again
 * are the number of the slot. */
extern "C" __global__ void find_first(const __grid_constant__ struct sc_csr_conversion c, int64_t slots,
                                      const int *row, const int *column, int *first_row, int *at, int *again)
{
    FOR_EACH(i, slots) {
        bool first = i == 0 || row[i - 1] != row[i] || column[i - 1] != column[i];

        first_row[i] = first ? row[i] : (int)c.rows;
        at[i] = again[i] = (int)i;
    }
}

static __device__ void put_integer(void *at, int bytes, int64_t i, int64_t value)
{
    if (bytes == 4)
        ((int32_t *)at)[i] = (int32_t)value;
    else
        ((int64_t *)at)[i] = value;
}

/* The rows of the slots ascend: row i starts at the first slot of row i or higher. */
extern "C" __global__ void find_starts(const __grid_constant__ struct sc_csr_conversion c, int64_t slots,
                                       const int *row)
{
    FOR_EACH(i, c.rows + 1) {
        int64_t low = 0, high = slots;

        while (low < high) {
            int64_t middle = low + (high - low) / 2;

            if (row[middle] < i)
                low = middle + 1;
            else
                high = middle;
        }
        put_integer(c.csr_rows, c.to_bytes, i, (low < c.entries ? low : c.entries) + c.to_base);
    }
}

/* A real number, or a complex one. */
template <typename real> struct value {
    real re, im;
};

template <typename real>
static __device__ struct value<real> value_of(const struct sc_csr_conversion &c, const struct sc_slot &s)
{
    bool pair = c.type == SC_C || c.type == SC_Z;
    const real *from = (const real *)c.values + s.value * (pair ? 2 : 1);
    struct value<real> v = {real(1), real(0)};

    if (s.value >= 0) {
        v.re = from[0];
        v.im = !pair ? real(0) : s.conjugated ? -from[1] : from[1];
    }
    return v;
}

template <typename real>
static __device__ void put(const struct sc_csr_conversion &c, int64_t i, int64_t column, struct value<real> v)
{
    bool pair = c.type == SC_C || c.type == SC_Z;
    real *to = (real *)c.csr_values + i * (pair ? 2 : 1);

    put_integer(c.csr_columns, c.to_bytes, i, column + c.to_base);
    to[0] = v.re;
    if (pair)
        to[1] = v.im;
}

/* Entry i comes from slot[i]. */
template <typename real>
static __device__ void store(const struct sc_csr_conversion &c, int64_t slots, const int *slot)
{
    FOR_EACH(i, c.entries < slots ? c.entries : slots) {
        struct sc_slot s;

        if (sc_slot_entry(&c, slot[i], &s))
            put<real>(c, i, s.col, value_of<real>(c, s));
    }
}

/* Entry i is the sum of slot[at[i]] and the following slots with the same position. */
template <typename real>
static __device__ void store_sums(const struct sc_csr_conversion &c, int64_t slots, const int *slot, const int *row,
                                  const int *column, const int *first_row, const int *at)
{
    FOR_EACH(i, c.entries < slots ? c.entries : slots) {
        struct sc_slot s;
        struct value<real> sum = {real(0), real(0)};
        int64_t from = at[i];

        if (first_row[i] >= c.rows)
            return; /* no entries left */
        for (int64_t k = from; k < slots && row[k] == row[from] && column[k] == column[from]; k++)
            if (sc_slot_entry(&c, slot[k], &s)) {
                struct value<real> v = value_of<real>(c, s);

                sum.re = k == from ? v.re : sum.re + v.re;
                sum.im = k == from ? v.im : sum.im + v.im;
            }
        put<real>(c, i, column[from], sum);
    }
}

#define KERNELS(real, name)                                                                                            \
    extern "C" __global__ void store_##name(const __grid_constant__ struct sc_csr_conversion c, int64_t slots,         \
                                            const int *slot)                                                           \
    {                                                                                                                  \
        store<real>(c, slots, slot);                                                                                   \
    }                                                                                                                  \
    extern "C" __global__ void store_sums_##name(const __grid_constant__ struct sc_csr_conversion c, int64_t slots,    \
                                                 const int *slot, const int *row, const int *column,                   \
                                                 const int *first_row, const int *at)                                  \
    {                                                                                                                  \
        store_sums<real>(c, slots, slot, row, column, first_row, at);                                                  \
    }

KERNELS(float, single)
KERNELS(double, double)
/* SPDX-License-Identifier: BSD-2-Clause */
