/* Kernels that copy several pieces between devices with one launch.  nvcc compiles the kernel (exchange.cu), and the
 * module contains the result as data.  Without nvcc, or if the driver refuses the kernel, no device reaches another
 * (rule U16). */
#include "device/cuda/cuda_int.h"
#include "device/cuda/exchange_kernel.h"

#ifdef SC_CUDA_EXCHANGE

static const _Alignas(16) unsigned char image[] = {
#include "device/cuda/exchange_image.inc"
};

#define BLOCKS_MOST 64 /* per piece: enough units in transit to fill a link */

void sc_cuda_exchange_open(struct sc_cuda_device *d)
{
    SC_CUDA_SCOPE(d);
    if (sc_cuda_module_load(&d->exchange, image, "exchange_few", &d->exchange_few) != SC_OK ||
        sc_cuda_module_find(d->exchange, "exchange_many", &d->exchange_many) != SC_OK)
        return;
    for (int i = 0; i < sc_cuda_count; i++)
        d->properties.reach[i] = i != d->index && d->properties.peer[i] && sc_cuda_devices[i].properties.peer[d->index];
}

void sc_cuda_exchange_close(struct sc_cuda_device *d)
{
    sc_cuda_module_unload(d->exchange);
    d->exchange = NULL;
}

static bool within_reach(const struct sc_cuda_device *d, const struct sc_copy2d *c)
{
    int other = c->src_device == d->index ? c->dst_device : c->src_device;

    if (other == d->index || (c->src_device != d->index && c->dst_device != d->index))
        return false;
    if (other == SC_HOST)
        return c->src_device == SC_HOST && d->reads_host && d->exchange_many;
    return d->properties.reach[other];
}

/* The largest unit that divides the addresses and sizes. */
static size_t unit_of(const struct sc_cuda_piece *p)
{
    size_t all = (size_t)p->dst | (size_t)p->src | p->width;

    if (p->height > 1)
        all |= p->dst_pitch | p->src_pitch;
    return all % 16 == 0 ? 16 : all % 4 == 0 ? 4 : 1;
}

static struct sc_cuda_piece piece_of(const struct sc_copy2d *c)
{
    struct sc_cuda_piece p = {c->dst, c->src, c->dst_pitch, c->src_pitch, c->width, c->height, 1};

    if (c->height > 1 && c->dst_pitch == c->width && c->src_pitch == c->width) {
        p.width *= p.height;
        p.height = 1;
    }
    p.unit = unit_of(&p);
    return p;
}

/* Number of blocks for a piece; a thread has several units in transit. */
static unsigned blocks_of(const struct sc_cuda_piece *p)
{
    size_t each = p->unit * SC_CUDA_EXCHANGE_THREADS * SC_CUDA_EXCHANGE_AHEAD;
    size_t blocks = (p->width * p->height + each - 1) / each;

    return (unsigned)(blocks < BLOCKS_MOST ? blocks : BLOCKS_MOST);
}

/* count <= SC_CUDA_EXCHANGE_MANY. */
static enum sc_status launch(struct sc_cuda_device *d, enum sc_stream stream, const struct sc_copy2d *copies, int count)
{
    struct sc_cuda_piece piece[SC_CUDA_EXCHANGE_MANY];
    unsigned blocks = 0, pieces = 0;
    void *arguments[] = {piece};

    for (int i = 0; i < count; i++)
        if (copies[i].width && copies[i].height) {
            unsigned its;

            piece[pieces] = piece_of(&copies[i]);
            its = blocks_of(&piece[pieces++]);
            blocks = its > blocks ? its : blocks;
        }
    if (!pieces)
        return SC_OK;
    return sc_cuda_module_launch(pieces <= SC_CUDA_EXCHANGE_FEW ? d->exchange_few : d->exchange_many, blocks, pieces,
                                 SC_CUDA_EXCHANGE_THREADS, sc_cuda_enqueue(d, stream), arguments);
}

enum sc_status sc_cuda_exchange(int device, enum sc_stream stream, const struct sc_copy2d *copies, int count)
{
    struct sc_cuda_device *d = sc_cuda_device(device);
    enum sc_status status = SC_OK;

    for (int i = 0; i < count; i++)
        if (!within_reach(d, &copies[i]))
            return SC_ERR_UNSUPPORTED;
    SC_CUDA_SCOPE(d);
    for (int i = 0; i < count && status == SC_OK; i += SC_CUDA_EXCHANGE_MANY)
        status = launch(d, stream, copies + i, count - i < SC_CUDA_EXCHANGE_MANY ? count - i : SC_CUDA_EXCHANGE_MANY);
    return status;
}

#else

void sc_cuda_exchange_open(struct sc_cuda_device *d) { (void)d; }
void sc_cuda_exchange_close(struct sc_cuda_device *d) { (void)d; }

enum sc_status sc_cuda_exchange(int device, enum sc_stream stream, const struct sc_copy2d *copies, int count)
{
    (void)device, (void)stream, (void)copies, (void)count;
    return SC_ERR_UNSUPPORTED;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
