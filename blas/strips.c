/* Strips of a product: how a call looks to who decides on their width (autotuner/strips.h), the cuts, and how long
 * calls that try a width take (autotuner/trials.h). */
#include "autotuner/explain.h"
#include "autotuner/start.h"
#include "autotuner/strips.h"
#include "blas/product.h"

/* --- the call ----------------------------------------------------------------------------------------------------- */

/* The device that has most blocks, and what it has: the others are done no later. */
static void look_at_blocks(const struct sc_product *g, struct sc_strips *s)
{
    int blocks[SC_DEVICES_MAX] = {0}, parts[SC_DEVICES_MAX] = {0}, most = 0;
    int64_t columns[SC_DEVICES_MAX] = {0};
    struct sc_cuts tiles;

    for (int j = 0; j < g->n.n; j++) {
        bool has[SC_DEVICES_MAX] = {false};

        for (int i = 0; i < g->m.n; i++) {
            int d = sc_product_device(g, i, j);

            blocks[d]++;
            parts[d] += !has[d];
            columns[d] += has[d] ? 0 : sc_blas_part(&g->n, j);
            has[d] = true;
        }
    }
    for (int d = 1; d < sc_coherence_devices(); d++)
        most = blocks[d] > blocks[most] ? d : most;
    for (int d = 0; d < sc_coherence_devices(); d++)
        s->devices += blocks[d] > 0;
    s->columns = columns[most];
    s->parts[0] = g->k.n;
    s->parts[1] = parts[most];
    s->blocks = (blocks[most] + parts[most] - 1) / parts[most];
    s->rows = g->call->kernel->m / g->m.n;
    sc_coherence_row_cuts(sc_product_operand(g, 2), &tiles);
    s->tiles = s->blocks * tiles.n / g->m.n > 1 ? s->blocks * tiles.n / g->m.n : 1;
}

static double now(void) { return sc_explain_clock(sc_coherence_virtual_seconds()); }

/* `missing`: bytes that have to be brought. */
static int64_t width_of(const struct sc_product *g, uint64_t missing, int64_t least)
{
    const struct sc_kernel *k = g->call->kernel;
    struct sc_strips s = {.sum = k->k, .least = least};
    struct sc_trial_shape shape = {.op = k->op, .type = k->type, .transa = k->transa, .transb = k->transb, .m = k->m,
                                   .n = k->n, .k = k->k, .missing = missing};
    struct sc_blas_tried *tried = &g->call->tried;
    struct sc_strips_choice choice;
    double result = (double)k->m * (double)k->n * (double)sc_type_bytes(k->type);

    look_at_blocks(g, &s);
    s.kernel = sc_blas_kernel_seconds(k, s.devices);
    s.again = 2 * result / s.devices / sc_coherence_device_properties(0)->memory_bandwidth;
    sc_strips_machine(&s, sc_autotuner_database(), sc_coherence_device_properties(0)->host_bandwidth, (double)missing,
                      result);
    if (!missing)
        s.blocks *= g->k.n;
    sc_strips_choose(&s, &choice);
    shape.devices = s.devices;
    sc_trial_begin(&shape, &choice, &tried->trial);
    tried->start = tried->trial.slot < 0 ? 0 : now();
    tried->missing = missing;
    return tried->trial.width;
}

/* --- how long it takes -------------------------------------------------------------------------------------------- */

static struct sc_blas_tried watched; /* written while nobody watches */

static void took(void *of)
{
    const struct sc_blas_tried *tried = of;

    sc_trial_took(&tried->trial, sc_explain_clock(-1) - tried->start, tried->home);
}

/* On emulated devices the end of what has been enqueued is known.  Elsewhere it is seen by who waits for the result:
 * the program, when it looks at it.  With operands that are there strips make no difference to a result that stays. */
void sc_blas_tried_end(const struct sc_blas_tried *tried)
{
    double end;

    if (tried->trial.slot < 0 || (!tried->missing && !tried->home))
        return;
    end = sc_coherence_virtual_seconds();
    if (end >= 0) {
        sc_trial_took(&tried->trial, end - tried->start, tried->home);
        return;
    }
    sc_coherence_watch(NULL, NULL);
    watched = *tried;
    sc_coherence_watch(took, &watched);
}

/* --- the cuts ----------------------------------------------------------------------------------------------------- */

void sc_product_cut_result(struct sc_product *g)
{
    int64_t n = g->call->kernel->n;
    int64_t width = width_of(g, 0, (n + SC_BLAS_STRIPS_MOST - 1) / SC_BLAS_STRIPS_MOST);

    sc_blas_cut(&g->n, sc_product_operand(g, 2), width, width / 2);
}

/* A transposed and B, too: rows of C are cut and the sum is, columns hardly.  That is another problem than the one that
 * widths are chosen for; the usual one is within a few percent of the best. */
static int64_t width_of_operands(const struct sc_product *g)
{
    const struct sc_kernel *k = g->call->kernel;
    int64_t most = k->k > k->n ? k->k : k->n;
    uint64_t missing;

    if (k->transa != 'N' && k->transb != 'N')
        return most / 16 > SC_BLAS_STRIP_MIN ? most / 16 : SC_BLAS_STRIP_MIN;
    missing = sc_blas_missing(g->call);
    /* At home there may be all of it, if not where blocks run. */
    return width_of(g, missing ? missing : 1, most / (SC_PRODUCT_PARTS_MAX / 2));
}

void sc_product_cut_operands(struct sc_product *g)
{
    const struct sc_kernel *kernel = g->call->kernel;
    bool a_is_depth = kernel->transa == 'N', b_is_depth = kernel->transb != 'N';
    int64_t width = width_of_operands(g), block = a_is_depth ? width : 2 * width; /* of a C that is cut both ways */

    sc_blas_cut(a_is_depth ? &g->k : &g->m, sc_product_operand(g, 0), block, block);
    if (!b_is_depth) {
        sc_blas_cut(&g->n, sc_product_operand(g, 1), block, block);
        return;
    }
    sc_blas_cut(&g->k, sc_product_operand(g, 1), width, width);
    /* And columns of C, coarsely, so that they are finished one after the other. */
    sc_blas_refine(&g->n, sc_product_operand(g, 2), kernel->n / 4 > block ? kernel->n / 4 : block);
}
