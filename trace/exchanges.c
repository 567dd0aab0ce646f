#include "trace/exchanges.h"

#include <string.h>

#include "base/locks.h"

/* Transfers between devices, by their kind and by their bytes in powers of two. */
#define KINDS_MAX 64
static struct kinds {
    struct kind {
        int what[3], bits;
        uint64_t times, bytes;
        double predicted[2]; /* sums, s */
    } kind[KINDS_MAX];
    int count;
} moved, /* pieces: push, by a kernel, how many; by copies, by one kernel */
    sent; /* results: readers, kernels, chunks; as a whole, in chunks */
static struct sc_lock lock = SC_LOCK(SC_RANK_EXCHANGES);

static int bits_of(uint64_t bytes) { return 63 - __builtin_clzll(bytes | 1); }

static void add_kind(struct kinds *kinds, const struct kind *one)
{
    int bits = bits_of(one->bytes), i = 0;

    sc_lock(&lock);
    while (i < kinds->count && (kinds->kind[i].bits != bits ||
                                memcmp(kinds->kind[i].what, one->what, sizeof one->what)))
        i++;
    if (i < KINDS_MAX) {
        struct kind *k = &kinds->kind[i];

        memcpy(k->what, one->what, sizeof k->what);
        k->bits = bits;
        k->times++;
        k->bytes += one->bytes;
        k->predicted[0] += one->predicted[0];
        k->predicted[1] += one->predicted[1];
        kinds->count += i == kinds->count;
    }
    sc_unlock(&lock);
}

void sc_exchanges_moved(bool push, bool by_kernel, int pieces, uint64_t bytes, double copies, double kernel)
{
    add_kind(&moved, &(struct kind){.what = {push, by_kernel, pieces}, .bytes = bytes, .predicted = {copies, kernel}});
}

void sc_exchanges_sent(int readers, int kernels, int chunks, uint64_t bytes, double whole, double in_chunks)
{
    add_kind(&sent, &(struct kind){.what = {readers, kernels, chunks}, .bytes = bytes,
                                   .predicted = {whole, in_chunks}});
}

static void moved_lines(FILE *out)
{
    for (int i = 0; i < moved.count; i++) {
        const struct kind *k = &moved.kind[i];
        double times = (double)k->times;

        if (!i)
            fprintf(out, "# between devices: pieces, bytes of all, times, by copy engines, by one kernel, choice\n");
        fprintf(out, "# %6d %11.0f %8llu %11.1f %11.1f %s\n", k->what[2], (double)k->bytes / times,
                (unsigned long long)k->times, k->predicted[0] / times * 1e6, k->predicted[1] / times * 1e6,
                !k->what[1] ? "copy" : k->what[0] ? "push" : "pull");
    }
}

static void sent_lines(FILE *out)
{
    for (int i = 0; i < sent.count; i++) {
        const struct kind *k = &sent.kind[i];
        double times = (double)k->times;

        if (!i)
            fprintf(out, "# results for other devices: readers, kernels and bytes of a part, times, predicted until it "
                         "is there as a whole, in chunks, so many\n");
        fprintf(out, "# %6d %6d %11.0f %8llu %11.1f %11.1f %d\n", k->what[0], k->what[1], (double)k->bytes / times,
                (unsigned long long)k->times, k->predicted[0] / times * 1e6, k->predicted[1] / times * 1e6, k->what[2]);
    }
}

void sc_exchanges_write(FILE *out)
{
    sc_lock(&lock);
    moved_lines(out);
    sent_lines(out);
    sc_unlock(&lock);
}
/* SPDX-License-Identifier: BSD-2-Clause */
