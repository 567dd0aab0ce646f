/* A substitute for DMA (base/self_mem.h): copies of pitched rows to and from closed pages of the process. */
#include "base/own_fd.h"
#include "base/self_mem.h"
#include "device/emu/emu_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BOUNCE ((size_t)256 << 10)
#define BATCH 256 /* rows in a vectored call */

enum sc_status sc_emu_hostmem_start(void)
{
    if (sc_fd_self_mem() >= 0)
        return SC_OK;
    sc_log(SC_LOG_ERROR, "emulated devices need /proc/self/mem: %s", strerror(errno));
    return SC_ERR_IO;
}

static enum sc_status move(bool write, struct iovec *iov, int count, uintptr_t host)
{
    if (sc_self_mem_move(write, iov, count, host) == SC_OK)
        return SC_OK;
    sc_log(SC_LOG_ERROR, "emulated copy: cannot %s host memory at %#lx: %s", write ? "write" : "read",
           (unsigned long)host, strerror(errno));
    return SC_ERR_DEVICE;
}

/* For a contiguous host side: moves many rows of the other side in one call. */
static enum sc_status move_gathered(bool write, char *plain, size_t pitch, uintptr_t host, size_t width, size_t height)
{
    enum sc_status status = SC_OK;

    for (size_t row = 0; row < height && !status;) {
        struct iovec iov[BATCH];
        int count = 0;
        uintptr_t at = host + row * width;

        for (; row < height && count < BATCH; row++)
            iov[count++] = (struct iovec){plain + row * pitch, width};
        status = move(write, iov, count, at);
    }
    return status;
}

static enum sc_status move_rows(bool write, char *plain, size_t plain_pitch, uintptr_t host, size_t host_pitch,
                                size_t width, size_t height)
{
    enum sc_status status = SC_OK;

    if (plain_pitch == width && host_pitch == width && height > 1) {
        width *= height;
        height = 1;
    }
    if (height > 1 && host_pitch == width)
        return move_gathered(write, plain, plain_pitch, host, width, height);
    for (size_t row = 0; row < height && !status; row++) {
        struct iovec iov = {plain + row * plain_pitch, width};
        status = move(write, &iov, 1, host + row * host_pitch);
    }
    return status;
}

/* Reads narrow, closely spaced rows together with the bytes between them.  Writes cannot do the same, because the bytes
 * between the rows belong to the program. */
static enum sc_status read_sparse(const struct sc_copy2d *c, char *bounce)
{
    size_t rows = (BOUNCE - c->width) / c->src_pitch + 1;
    enum sc_status status = SC_OK;

    for (size_t row = 0; row < c->height && !status; row += rows) {
        size_t now = c->height - row < rows ? c->height - row : rows;
        struct iovec iov = {bounce, (now - 1) * c->src_pitch + c->width};

        status = move(false, &iov, 1, (uintptr_t)c->src + row * c->src_pitch);
        for (size_t i = 0; i < now && !status; i++)
            memcpy((char *)c->dst + (row + i) * c->dst_pitch, bounce + i * c->src_pitch, c->width);
    }
    return status;
}

enum sc_status sc_emu_hostmem_read(const struct sc_copy2d *c)
{
    if (c->height > 1 && c->src_pitch > c->width && c->src_pitch <= 2048) {
        char *bounce = malloc(BOUNCE);
        enum sc_status status = bounce ? read_sparse(c, bounce) : SC_ERR_MEMORY;
        free(bounce);
        return status;
    }
    return move_rows(false, c->dst, c->dst_pitch, (uintptr_t)c->src, c->src_pitch, c->width, c->height);
}

enum sc_status sc_emu_hostmem_write(const struct sc_copy2d *c)
{
    char *source = (char *)(uintptr_t)c->src; /* only read */

    return move_rows(true, source, c->src_pitch, (uintptr_t)c->dst, c->dst_pitch, c->width, c->height);
}
/* SPDX-License-Identifier: BSD-2-Clause */
