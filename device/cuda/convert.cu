/* Conversions to CSR: one thread for each slot, row or entry. */
#include "device/slot.h"

#define FOR_EACH(i, n)                                                                                                 \
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += (int64_t)gridDim.x * blockDim.x)

/* Of each slot: the row of the part, or `rows` when it stands for nothing there; and its number, twice. */
extern "C" __global__ void find_rows(const __grid_constant__ struct sc_csr_conversion c, int64_t slots, int *row,
                                     int *slot, int *order)
{
    FOR_EACH(i, slots) {
        struct sc_slot s;

        row[i] = (int)(sc_slot_entry(&c, i, &s) ? s.row - c.row : c.rows);
        slot[i] = order[i] = (int)i;
    }
}

static __device__ void put_integer(void *at, int bytes, int64_t i, int64_t value)
{
    if (bytes == 4)
        ((int32_t *)at)[i] = (int32_t)value;
    else
        ((int64_t *)at)[i] = value;
}

/* The slots' rows ascend: row i starts at the first that is not below it. */
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

/* One number, or two that may be a conjugate. */
template <typename real>
static __device__ void put_value(const struct sc_csr_conversion &c, int64_t at, const struct sc_slot &s)
{
    int numbers = c.type == SC_C || c.type == SC_Z ? 2 : 1;
    const real *from = (const real *)c.values + s.value * numbers;
    real *to = (real *)c.csr_values + at * numbers;

    to[0] = s.value < 0 ? real(1) : from[0];
    if (numbers == 2)
        to[1] = s.value < 0 ? real(0) : s.conjugated ? -from[1] : from[1];
}

template <typename real>
static __device__ void store(const struct sc_csr_conversion &c, int64_t slots, const int *slot)
{
    FOR_EACH(i, c.entries < slots ? c.entries : slots) {
        struct sc_slot s;

        if (!sc_slot_entry(&c, slot[i], &s))
            continue;
        put_integer(c.csr_columns, c.to_bytes, i, s.col + c.to_base);
        put_value<real>(c, i, s);
    }
}

extern "C" __global__ void store_single(const __grid_constant__ struct sc_csr_conversion c, int64_t slots,
                                        const int *slot)
{
    store<float>(c, slots, slot);
}

extern "C" __global__ void store_double(const __grid_constant__ struct sc_csr_conversion c, int64_t slots,
                                        const int *slot)
{
    store<double>(c, slots, slot);
}
