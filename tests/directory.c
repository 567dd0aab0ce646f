/* The geometry of matrices. Asserts that grids cover the lattice, sectors cover the tiles, and the mappings between
 * bytes and sectors agree. */
#include <stdlib.h>
#include <string.h>

#include "directory/directory.h"
#include "tests/tap.h"

static uint64_t state = 1;

static int64_t below(int64_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((state >> 33) % (uint64_t)n);
}

/* Every lattice element lies in exactly one tile, by the arithmetic of the cuts. */
static bool tiles_cover(const struct sc_matrix *m)
{
    int64_t elements = 0;

    for (int j = 0; j < m->col_parts; j++)
        for (int i = 0; i < m->row_parts; i++) {
            const struct sc_tile *t = sc_matrix_tile(m, i, j);

            if (t->rows < 1 || t->cols < 1 || t->sectors < 1 || t->sectors > SC_SECTORS || t->home < 0 ||
                t->home >= sc_directory_limits.devices || sc_tile_sector_end(m, t, t->sectors) != t->col + t->cols ||
                sc_matrix_tile_row(m, t->row) != i || sc_matrix_tile_row(m, t->row + t->rows - 1) != i ||
                sc_matrix_tile_col(m, t->col) != j || sc_matrix_tile_col(m, t->col + t->cols - 1) != j)
                return false;
            elements += t->rows * t->cols;
        }
    return elements == m->rows * m->cols;
}

/* Sectors follow each other in memory and end with the matrix; a byte lies in the range of its sector. */
static bool sectors_cover(const struct sc_matrix *m)
{
    uintptr_t last = m->base, lo, hi;
    int first, end;

    for (int g = 0; g < sc_matrix_sectors(m); g++) {
        if (!sc_matrix_sector_range(m, g, &lo, &hi))
            continue;
        if (lo < last || lo >= hi || hi > sc_matrix_end(m))
            return false;
        last = hi;
        if (!sc_matrix_sectors_at(m, lo, lo + 1, &first, &end) || first != g || end != g + 1)
            return false;
        if (!sc_matrix_sectors_at(m, hi - 1, hi, &first, &end) || first != g || end != g + 1)
            return false;
    }
    return last == sc_matrix_end(m);
}

static bool tiles_small(const struct sc_matrix *m)
{
    for (int i = 0; i < m->row_parts * m->col_parts; i++)
        if ((uint64_t)(m->tiles[i].rows * m->tiles[i].cols) * m->elem > sc_directory_limits.tile_bytes)
            return false;
    return true;
}

static void random_lattice(struct sc_lattice *l)
{
    static const size_t elems[] = {4, 8, 16};
    size_t elem = elems[below(3)];
    uintptr_t base = UINT64_C(0x100000000000) + (uintptr_t)below(1000) * elem;

    if (below(2)) {
        sc_lattice_fold(l, base, elem, 1 + below(below(2) ? 200 : 200000));
        return;
    }
    *l = (struct sc_lattice){.base = base, .elem = elem, .rows = 1 + below(500), .cols = 1 + below(500)};
    l->ld = l->rows + below(3) * below(100);
    l->bytes = (size_t)((l->cols - 1) * l->ld + l->rows) * elem;
}

static void test_grids(void)
{
    int bad = 0;

    for (int i = 0; i < 3000; i++) {
        struct sc_lattice l;
        struct sc_matrix *m;
        struct sc_spread spread;

        sc_directory_limits = (struct sc_directory_limits){1 + (int)below(8), UINT64_C(20000) << below(12),
                                                           (size_t)(64 << below(7))};
        random_lattice(&l);
        spread = (struct sc_spread){.devices = 1 + (int)below(sc_directory_limits.devices), .by_cols = below(2),
                                    .narrow = below(2)};
        if (below(2)) {
            spread.rows = 1 + (int)below(40);
            spread.cols = 1 + (int)below(40);
        }
        m = sc_matrix_new(&l, spread);
        if (!m || !tiles_cover(m) || !sectors_cover(m) || !tiles_small(m)) {
            tap_diag("lattice %lld x %lld, ld %lld, elem %zu, folded %d, devices %d, tile %llu:"
                     " cover %d sectors %d small %d",
                     (long long)l.rows, (long long)l.cols, (long long)l.ld, l.elem, l.folded,
                     sc_directory_limits.devices, (unsigned long long)sc_directory_limits.tile_bytes,
                     m && tiles_cover(m), m && sectors_cover(m), m && tiles_small(m));
            bad++;
        }
        sc_matrix_free(m);
    }
    tap_ok(bad == 0, "3000 random grids cover their lattices, sectors their bytes, tiles within their limit");
}

/* D7: blocks of 64 columns are separate sectors on any number of devices; in small matrices blocks have fewer
 * columns. */
static void test_narrow(void)
{
    int bad = 0;

    sc_directory_limits = (struct sc_directory_limits){4, UINT64_C(1) << 40, 4096};
    for (int64_t n = 1000; n <= 20000; n += 950)
        for (int by_cols = 0; by_cols < 2; by_cols++) {
            struct sc_lattice l = {.base = 1 << 30, .bytes = (size_t)(n * n) * 8, .elem = 8, .ld = n, .rows = n,
                                   .cols = n};
            struct sc_spread spread = {.devices = 4, .by_cols = by_cols, .narrow = true};
            struct sc_matrix *m = sc_matrix_new(&l, spread);
            int64_t width = m->width;

            bad += (width & (width - 1)) != 0 || width > SC_NARROW_COLS;
            for (int i = 0; i < m->row_parts * m->col_parts; i++)
                bad += m->tiles[i].sectors > SC_SECTORS || m->tiles[i].col % width;
            if (bad)
                tap_diag("n = %lld, by_cols %d: width %lld, %d tile columns", (long long)n, by_cols, (long long)width,
                         m->col_parts);
            sc_matrix_free(m);
        }
    tap_ok(bad == 0, "narrow sectors: a power of two up to 64, tiles begin at multiples of it");
}

/* D3: a device owns the same rows of A and of y. */
static void test_alignment(void)
{
    int bad = 0;

    for (int64_t n = 1; n < 40000; n = n * 3 / 2 + 1)
        for (int devices = 1; devices <= 8; devices++) {
            struct sc_lattice a = {.base = 1 << 30, .elem = 8, .ld = n, .rows = n, .cols = 3, .bytes = (size_t)n * 24};
            struct sc_lattice y;
            struct sc_matrix *ma, *my;

            sc_directory_limits = (struct sc_directory_limits){devices, UINT64_C(1) << 40, 4096};
            sc_lattice_fold(&y, 1 << 20, 8, n);
            ma = sc_matrix_new(&a, (struct sc_spread){.devices = devices});
            my = sc_matrix_new(&y, (struct sc_spread){.devices = devices});
            for (int i = 0; i + 1 < ma->row_parts; i++)
                if (ma->row_cut[i + 1] % my->rows)
                    bad++;
            sc_matrix_free(ma);
            sc_matrix_free(my);
        }
    tap_ok(bad == 0, "row cuts of a distributed matrix are at segment boundaries of a vector as long");
}

static void test_index(void)
{
    struct sc_matrix *m[50];
    size_t first;

    sc_directory_limits = (struct sc_directory_limits){2, UINT64_C(1) << 40, 4096};
    for (int i = 0; i < 50; i++) {
        struct sc_lattice l;

        sc_lattice_fold(&l, (uintptr_t)(1 + (i * 37) % 50) << 20, 8, 1000);
        m[i] = sc_matrix_new(&l, (struct sc_spread){.devices = 1});
        sc_directory_insert(m[i]);
    }
    tap_ok(sc_directory_count() == 50, "50 matrices inserted out of order");
    tap_ok(sc_directory_find(1 << 20, (uintptr_t)51 << 20, &first) == 50 && first == 0, "a range over all finds all");
    tap_ok(sc_directory_find(((uintptr_t)7 << 20) + 7999, ((uintptr_t)8 << 20) + 1, &first) == 2 && first == 6,
           "the last byte of one and the first of the next find both");
    tap_ok(sc_directory_find(((uintptr_t)7 << 20) + 8000, (uintptr_t)8 << 20, &first) == 0, "between them nothing");
    for (int i = 0; i < 50; i += 2)
        sc_directory_remove(m[i]);
    tap_ok(sc_directory_find(1 << 20, (uintptr_t)51 << 20, &first) == 25, "every other one removed");
}

static void test_gap(void)
{
    struct sc_lattice l = {.base = 1 << 30, .elem = 8, .ld = 2048, .rows = 512, .cols = 64,
                           .bytes = (63 * 2048 + 512) * 8};
    struct sc_matrix *m;
    int first, end;

    sc_directory_limits = (struct sc_directory_limits){1, UINT64_C(1) << 40, 4096};
    m = sc_matrix_new(&l, (struct sc_spread){.devices = 1});
    tap_ok(m->width == 1 && m->tiles[0].sectors == 64, "64 columns of four pages: a sector each");
    tap_ok(!sc_matrix_sectors_at(m, m->base + 4096, m->base + 16384, &first, &end),
           "bytes between columns are in no sector");
    tap_ok(sc_matrix_sectors_at(m, m->base + 4096, m->base + 16385, &first, &end) && first == 1 && end == 2,
           "one byte more is in the next column's");
    sc_matrix_free(m);
}

/* The pages of an open or closed sector, by the definition. */
static bool meets_closed(const struct sc_matrix *m, uintptr_t lo, uintptr_t hi)
{
    uintptr_t a, b;

    for (int g = 0; g < sc_matrix_sectors(m); g++)
        if (sc_matrix_sector_range(m, g, &a, &b) && sc_closed_bit(m, g, SC_CLOSED_WRITE) && (a & ~4095) < hi &&
            ((b + 4095) & ~4095) > lo)
            return true;
    return false;
}

/* Strips of rows dealt out to four devices there and back. */
static void test_reflected(void)
{
    static const int home[] = {0, 1, 2, 3, 3, 2, 1, 0, 0, 1};
    struct sc_lattice l = {.base = 1 << 20, .bytes = 5120 * 64 * 8, .elem = 8, .ld = 5120, .rows = 5120, .cols = 64};
    struct sc_spread spread = {.devices = 4, .rows = 4, .cols = 1, .block = 64, .block_rows = 512, .reflected = true};
    struct sc_matrix *m;
    bool there = true, turn = true;

    sc_directory_limits = (struct sc_directory_limits){4, UINT64_C(1) << 32, 4096};
    m = sc_matrix_new(&l, spread);
    for (int i = 0; i < m->row_parts; i++)
        there &= sc_matrix_tile(m, i, 0)->home == home[i % 10];
    tap_ok(m->row_parts == 10 && there, "strips are dealt out from the first device to the last and back");
    sc_matrix_free(m);
    spread.reflected = false;
    m = sc_matrix_new(&l, spread);
    for (int i = 0; i < m->row_parts; i++)
        turn &= sc_matrix_tile(m, i, 0)->home == i % 4;
    tap_ok(turn, "or in turn");
    sc_matrix_free(m);
}

static uint64_t random_word(void)
{
    return (uint64_t)below(INT32_MAX) << 42 ^ (uint64_t)below(INT32_MAX) << 21 ^ (uint64_t)below(INT32_MAX);
}

/* Sectors close and open in random order, one or several in a call.  A range with closed pages is always answered with
 * true.  A range that is further than two sectors and a 32nd of the matrix from closed pages is answered with false. */
static void test_parts(void)
{
    bool found = true, precise = true, empty = true;

    sc_directory_limits = (struct sc_directory_limits){4, UINT64_C(1) << 22, 4096};
    for (int i = 0; i < 60; i++) {
        struct sc_lattice l;
        struct sc_matrix *m;
        uintptr_t near;

        random_lattice(&l);
        m = sc_matrix_new(&l, (struct sc_spread){.devices = 1 + (int)below(4)});
        sc_noted_reserve(1);
        near = 2 * (uintptr_t)(m->width * m->ld) * m->elem + m->bytes / 32 + 8192;
        for (int step = 0; step < 200; step++) {
            int g = (int)below(sc_matrix_sectors(m));
            uintptr_t lo = m->base + (uintptr_t)below((int64_t)m->bytes), hi = lo + 1 + (uintptr_t)below(100000);
            uint64_t some = below(2) ? UINT64_C(1) << g % SC_SECTORS : random_word();
            bool noted;

            some &= sc_sectors_range(0, sc_matrix_tile(m, 0, g / SC_SECTORS)->sectors);
            sc_closed_set(m, g / SC_SECTORS, some, 0, random_word() & random_word());
            noted = sc_noted_any(lo, hi, SC_CLOSED_WRITE);
            found &= noted || !meets_closed(m, lo, hi);
            precise &= !noted || meets_closed(m, lo > near ? lo - near : 0, hi + near);
        }
        for (int j = 0; j < m->col_parts; j++)
            sc_closed_set(m, j, UINT64_MAX, 0, 0);
        empty &= !sc_noted_any(0, UINTPTR_MAX, SC_CLOSED_WRITE);
        sc_noted_forget(m);
        sc_matrix_free(m);
    }
    tap_ok(found, "closed pages are noted, whatever has closed and opened around them");
    tap_ok(precise, "pages far from closed pages are not noted");
    tap_ok(empty, "nothing is noted when all sectors are open");
}

int main(void)
{
    test_grids();
    test_alignment();
    test_narrow();
    test_index();
    test_gap();
    test_reflected();
    test_parts();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
