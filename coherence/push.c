/* Results that go home before the host asks for them (PROACT: the producer pushes what its consumer has been seen to
 * read).  When the host has looked at a matrix after each of the last calls that wrote it, the next result is sent home
 * while its kernels finish, part after part.  Its pages stay closed until they are touched, and open without a
 * transfer. */
#include "base/config.h"
#include "coherence/protocol.h"

#define LEAST_BYTES ((size_t)1 << 20) /* below, a transfer takes no longer than its fault */
#define LOOKS       2                 /* calls after which the host must have looked */

static int sectors_of(const struct sc_matrix *m)
{
    int sectors = 0;

    for (int j = 0; j < m->col_parts; j++)
        sectors += sc_matrix_tile((struct sc_matrix *)m, 0, j)->sectors;
    return sectors;
}

/* It has been written once more. */
static bool is_wanted(struct sc_matrix *m)
{
    bool looked = m->opened >= sectors_of(m) / 4 * 3 + 1;

    m->opened = 0;
    m->looks = !looked ? 0 : m->looks < LOOKS ? m->looks + 1 : LOOKS;
    return m->looks == LOOKS && sc_config.push;
}

static bool is_whole(const struct sc_operand *o)
{
    uintptr_t lo, hi;

    sc_view_extent(&o->view, &lo, &hi);
    return lo == o->matrix->base && hi == sc_matrix_end(o->matrix);
}

void sc_coherence_push(const struct sc_operand *operands, int count)
{
    for (int i = 0; i < count; i++) {
        struct sc_matrix *m = operands[i].matrix;
        uint64_t before;

        if (!m || !(operands[i].view.access & SC_WRITE) || m->bytes < LEAST_BYTES || !is_whole(&operands[i]) ||
            !is_wanted(m))
            continue;
        before = sc_stats.bytes[SC_D2H];
        sc_access_start(m);
        sc_count(&sc_stats.pushed, sc_stats.bytes[SC_D2H] - before);
    }
}
