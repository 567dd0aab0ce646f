/* gemm on operands in transit that other devices have just computed (coherence/push.c).  Each device begins with its
 * resident parts of the sum, and continues with the remaining parts in the order of arrival. */
#include <stdlib.h>

#include "blas/run/product.h"

/* Parts of operands, made by other devices in recent calls, that a device has to wait for. */
struct awaited {
    const struct sc_product *g;
    int devices;
    bool any;       /* a part is in transit to a device */
    bool missing;   /* a missing part is not in transit */
    int16_t *begun, *device; /* by block, [i + j * rows] */
    int16_t *a, *b; /* by device: parts of A [i + l * rows], of B [l + j * parts] */
    int16_t *order; /* by device: the parts of the sum in the order of arrival */
};

static bool make_room(struct awaited *w, const struct sc_product *g)
{
    size_t m = (size_t)g->m.n, n = (size_t)g->n.n, k = (size_t)g->k.n, d = (size_t)sc_coherence_devices();

    *w = (struct awaited){.g = g, .devices = sc_coherence_devices()};
    if (d < 2 || k < 2)
        return false;
    w->begun = calloc(2 * m * n + d * k * (m + n + 1), sizeof *w->begun);
    w->device = w->begun + m * n;
    w->a = w->device + m * n;
    w->b = w->a + d * k * m;
    w->order = w->b + d * k * n;
    return w->begun != NULL;
}

static int16_t *of_device(const struct awaited *w, int16_t *array, int device, int per_part)
{
    return array + (size_t)device * (size_t)w->g->k.n * (size_t)per_part;
}

/* True when the device has to wait for the piece.  *distance is then the number of devices between its maker and
 * this device, in the order in which results are sent (coherence/push.c). */
static bool look_at_piece(struct awaited *w, int device, const struct sc_piece *piece, int *distance)
{
    if (sc_coherence_ready(device, piece))
        return false;
    w->missing = w->missing || sc_coherence_missing(device, piece);
    *distance = (device - sc_coherence_home(piece) + w->devices) % w->devices;
    w->any = true;
    return true;
}

static bool runs(const struct awaited *w, int device, int i, int j)
{
    return w->device[i + j * w->g->m.n] == device;
}

/* Looks at the pieces of part l of the sum that the device's blocks read. */
static void look_at_part(struct awaited *w, int device, int l, int *distance)
{
    const struct sc_product *g = w->g;
    int16_t *a = of_device(w, w->a, device, g->m.n) + l * g->m.n, *b = of_device(w, w->b, device, g->n.n) + l;
    bool seen[SC_CUTS_MAX] = {false};

    for (int j = 0; j < g->n.n; j++) {
        bool any = false;

        for (int i = 0; i < g->m.n; i++) {
            struct sc_piece piece = sc_product_a(g, i, l, l + 1);

            if (!runs(w, device, i, j))
                continue;
            if (!seen[i])
                a[i] = look_at_piece(w, device, &piece, distance);
            seen[i] = any = true;
        }
        if (any) {
            struct sc_piece piece = sc_product_b(g, l, l + 1, j);

            b[j * g->k.n] = look_at_piece(w, device, &piece, distance);
        }
    }
}

static void look_at_device(struct awaited *w, int device)
{
    int16_t *next = of_device(w, w->order, device, 1);
    int distance[SC_CUTS_MAX] = {0};

    for (int l = 0; l < w->g->k.n; l++)
        look_at_part(w, device, l, &distance[l]);
    for (int away = 0; away < w->devices; away++)
        for (int l = 0; l < w->g->k.n; l++)
            if (distance[l] == away)
                *next++ = (int16_t)l;
}

/* Adds the awaited parts of the sum, or the parts that are not awaited. */
static enum sc_status add_parts(const struct awaited *w, int i, int j, bool awaited)
{
    const struct sc_product *g = w->g;
    int device = w->device[i + j * g->m.n];
    const int16_t *a = of_device(w, w->a, device, g->m.n), *b = of_device(w, w->b, device, g->n.n);
    const int16_t *order = of_device(w, w->order, device, 1);
    int16_t *begun = &w->begun[i + j * g->m.n];
    enum sc_status status = SC_OK;

    for (int t = 0; t < g->k.n && status == SC_OK; t++) {
        int l = order[t];

        if ((a[i + l * g->m.n] || b[l + j * g->k.n]) != awaited)
            continue;
        status = sc_product_multiply(g, device, i, j, l, l + 1, !*begun);
        *begun = true;
    }
    return status;
}

/* Computes all blocks from the resident parts, then adds the awaited parts.  Declines when a part is missing
 * without being in transit: the operands may not fit the device, and C would travel twice. */
bool sc_product_as_it_comes(const struct sc_product *g, enum sc_status *status)
{
    struct awaited w;

    if (!make_room(&w, g))
        return false;
    for (int j = 0; j < g->n.n; j++)
        for (int i = 0; i < g->m.n; i++)
            w.device[i + j * g->m.n] = (int16_t)sc_product_device(g, i, j);
    for (int d = 0; d < w.devices && !w.missing; d++)
        look_at_device(&w, d);
    w.any = w.any && !w.missing;
    *status = SC_OK;
    for (int awaited = 0; awaited < 2 && w.any; awaited++)
        for (int j = 0; j < g->n.n; j++)
            for (int i = 0; i < g->m.n && *status == SC_OK; i++)
                *status = add_parts(&w, i, j, awaited);
    free(w.begun);
    return w.any;
}
