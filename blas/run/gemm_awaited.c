/* gemm on operands that other devices have just computed and that are still in transit (coherence/push.c).  The sum
 * over k is cut into parts.  Each device first adds the parts whose operands are resident on the device, and then the
 * remaining parts in the order of their arrival. */
#include <math.h>

#include "blas/run/product.h"

/* A look at the operands for the schedule. */
struct awaited {
    const struct sc_product *g;
    struct sc_pipeline *p;
    double later; /* expected arrival of a part in transit: after all work on resident parts */
    bool any;     /* a part is in transit to a device */
    bool missing; /* a part is neither resident on a device nor in transit to the device */
};

/* The expected arrival of a piece on a device.  For a piece in transit *distance becomes the number of devices
 * between its maker and this device, in the order in which results are sent (coherence/push.c). */
static double look_at_piece(struct awaited *w, int device, const struct sc_piece *piece, int *distance)
{
    if (sc_coherence_ready(device, piece))
        return 0;
    w->missing = w->missing || sc_coherence_missing(device, piece);
    *distance = (device - sc_coherence_home(piece) + w->p->devices) % w->p->devices;
    w->any = true;
    return w->later;
}

/* Looks at the pieces of part l of the sum that the device's blocks read. */
static void look_at_part(struct awaited *w, int device, int l, int *distance)
{
    struct sc_pipeline *p = w->p;
    double *a = p->a + ((size_t)device * (size_t)p->k + (size_t)l) * (size_t)p->m;
    double *b = p->b + (size_t)device * (size_t)p->k * (size_t)p->n + l;

    for (int i = 0; i < p->m; i++)
        if (sc_pipeline_reads(p, device, i, -1)) {
            struct sc_piece piece = sc_product_a(w->g, i, l, l + 1);

            a[i] = look_at_piece(w, device, &piece, distance);
        }
    for (int j = 0; j < p->n; j++)
        if (sc_pipeline_reads(p, device, -1, j)) {
            struct sc_piece piece = sc_product_b(w->g, l, l + 1, j);

            b[j * p->k] = look_at_piece(w, device, &piece, distance);
        }
}

static void look_at_device(struct awaited *w, int device)
{
    int *next = w->p->order + (size_t)device * (size_t)w->p->k;
    int distance[SC_PRODUCT_PARTS_MAX] = {0};

    for (int l = 0; l < w->p->k; l++)
        look_at_part(w, device, l, &distance[l]);
    for (int away = 0; away < w->p->devices; away++)
        for (int l = 0; l < w->p->k; l++)
            if (distance[l] == away)
                *next++ = l;
}

/* Runs the product, and returns true with *status, if a part is in transit.  Declines if a part is neither resident
 * nor in transit: the operands may then exceed the device's memory, and C would be transferred twice. */
bool sc_product_as_it_comes(const struct sc_product *g, enum sc_status *status)
{
    const struct sc_kernel *k = g->call->kernel;
    struct sc_pipeline p;
    struct awaited w = {.g = g, .p = &p, .later = (double)k->m * (double)k->n * (double)k->k};

    if (!sc_product_schedules(g) ||
        sc_pipeline_init(&p, sc_product_parts(&g->m), sc_product_parts(&g->n), sc_product_parts(&g->k),
                         sc_coherence_devices()) != SC_OK)
        return false;
    sc_product_blocks(g, &p);
    for (int l = 0; l < p.k; l++)
        p.join_end[l] = l + 1;
    for (int d = 0; d < p.devices && !w.missing; d++)
        look_at_device(&w, d);
    w.any = w.any && !w.missing;
    *status = SC_OK;
    if (w.any)
        *status = sc_product_until(g, &p, INFINITY);
    sc_pipeline_free(&p);
    return w.any;
}
/* SPDX-License-Identifier: BSD-2-Clause */
