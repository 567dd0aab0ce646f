/* Copies of the elements of views. */
#include "coherence/view.h"

#include <string.h>

void sc_view_copy(const struct sc_view *to, const struct sc_view *from)
{
    size_t elem = sc_type_bytes(to->type);
    int64_t a = sc_step(to->ld), b = sc_step(from->ld);
    int64_t outer = to->vector ? to->rows : to->cols, inner = to->vector ? 1 : to->rows;

    if (to->vector && a == 1 && b == 1) {
        outer = 1;
        inner = to->rows;
    }
    for (int64_t j = 0; j < outer; j++)
        memcpy((char *)to->ptr + (size_t)(j * a) * elem, (const char *)from->ptr + (size_t)(j * b) * elem,
               (size_t)inner * elem);
}
/* SPDX-License-Identifier: BSD-2-Clause */
