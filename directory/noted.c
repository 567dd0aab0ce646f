/* Indices of matrices with closed pages, or with fetches, by host address; read without a lock.  Entries are sorted
 * by address, with ascending beginnings and ends: a binary search finds the entries that meet a range, in steps that
 * do not depend on matrices at home.  Writers hold the protocol's lock and make `serial` odd while they write.  A
 * reader that sees a change of `serial` answers "there is an entry"; the caller then takes the lock and looks
 * again.  A replaced array is kept, because readers may still use it; all replaced arrays together are no larger
 * than the current array.
 *
 * An entry divides its pages into at most 64 parts of equal size, no smaller than a sector.  A bit says that a part has
 * closed pages.  Ranges at home in a matrix that is partly on devices need no lock, as far as the parts tell. */
#include "directory/directory.h"

#include <stdlib.h>

struct entry {
    uintptr_t lo, hi; /* whole pages */
    uint64_t parts;   /* bit p: the p-th part from `lo` on has such pages */
    uintptr_t shift;  /* of the size of a part */
    struct sc_matrix *m;
};

#define ARRAYS_MAX 48 /* each array is twice as large as its predecessor */

static struct index {
    unsigned serial;
    size_t count;
    struct entry *entry;
} index_[SC_NOTES];
static struct entry *arrays_[SC_NOTES][ARRAYS_MAX];
static int arrays_count_;
static size_t capacity_;

static uintptr_t page_floor(uintptr_t addr) { return addr & ~(uintptr_t)4095; }
static uintptr_t page_ceil(uintptr_t addr) { return page_floor(addr + 4095); }

static uintptr_t load(const uintptr_t *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }

/* --- parts -------------------------------------------------------------------------------------------------------- */

#define PARTS 64 /* bits of struct entry's parts */

static uintptr_t shift_of(const struct sc_matrix *m)
{
    uintptr_t extent = page_ceil(sc_matrix_end(m)) - page_floor(m->base), least = (extent + PARTS - 1) / PARTS;
    uintptr_t sector = (uintptr_t)m->width * (uintptr_t)m->ld * m->elem;

    least = sector < extent && sector > least ? sector : sector < extent ? least : extent;
    least = least > 4096 ? least : 4096; /* a part consists of whole pages (parts_left) */
    return (uintptr_t)(64 - __builtin_clzll(least - 1));
}

/* The parts that meet [lo, hi), of an entry that does. */
static uint64_t parts_between(uintptr_t base, uintptr_t shift, uintptr_t lo, uintptr_t hi)
{
    uintptr_t first = lo > base ? (lo - base) >> shift : 0, last = (hi - 1 - base) >> shift;

    return first < PARTS ? UINT64_MAX << first & UINT64_MAX >> (last < PARTS ? PARTS - 1 - last : 0) : 0;
}

/* The parts of sectors of tile column j. */
static uint64_t parts_of(const struct sc_matrix *m, int j, uint64_t sectors)
{
    uintptr_t base = page_floor(m->base), shift = shift_of(m), lo, hi, none;
    uint64_t parts = 0;

    for (int s, e; sectors; sectors &= ~sc_sectors_range(s, e)) {
        s = __builtin_ctzll(sectors);
        for (e = s + 1; e < SC_SECTORS && sectors >> e & 1; e++)
            ;
        if (sc_matrix_sector_range(m, j * SC_SECTORS + s, &lo, &none) &&
            sc_matrix_sector_range(m, j * SC_SECTORS + e - 1, &none, &hi))
            parts |= parts_between(base, shift, page_floor(lo), page_ceil(hi));
    }
    return parts;
}

/* The parts of open sectors in which no other sector is closed. */
static uint64_t parts_left(const struct sc_matrix *m, int j, uint64_t sectors, enum sc_note what)
{
    uintptr_t base = page_floor(m->base), shift = shift_of(m);
    uint64_t left = 0;
    int first, end;

    if (!m->closed[what].count)
        return UINT64_MAX;
    for (uint64_t rest = parts_of(m, j, sectors); rest; rest &= rest - 1) {
        uintptr_t part = base + ((uintptr_t)__builtin_ctzll(rest) << shift);

        if (!sc_matrix_sectors_at(m, part, part + ((uintptr_t)1 << shift), &first, &end) ||
            sc_closed_sector(m, first, end, what) == end)
            left |= rest & -rest;
    }
    return left;
}

/* --- look-ups ----------------------------------------------------------------------------------------------------- */

/* Position of the first of `count` entries with an end after `lo`. */
static size_t first_after(const struct entry *entry, size_t count, uintptr_t lo)
{
    size_t a = 0, b = count;

    while (a < b) {
        size_t middle = a + (b - a) / 2;

        if (load(&entry[middle].hi) <= lo)
            a = middle + 1;
        else
            b = middle;
    }
    return a;
}

/* Loads acquire: a reader of a stored word reads at the end the serial of its writer, or a later serial.  The count
 * is read before the array and stored after the array, so the array is never too small. */
bool sc_noted_any(uintptr_t lo, uintptr_t hi, enum sc_note note)
{
    const struct index *x = &index_[note];
    unsigned serial = __atomic_load_n(&x->serial, __ATOMIC_ACQUIRE);
    size_t count = __atomic_load_n(&x->count, __ATOMIC_ACQUIRE), i;
    const struct entry *entry = __atomic_load_n(&x->entry, __ATOMIC_ACQUIRE);

    if (!count)
        return false;
    for (i = first_after(entry, count, lo); i < count; i++) {
        uintptr_t base = load(&entry[i].lo);

        if (base >= hi)
            break;
        if (load(&entry[i].parts) & parts_between(base, load(&entry[i].shift), lo, hi))
            return true;
    }
    return serial & 1 || __atomic_load_n(&x->serial, __ATOMIC_ACQUIRE) != serial;
}

struct sc_matrix *sc_noted_next(uintptr_t from, uintptr_t lo, uintptr_t hi, enum sc_note note)
{
    const struct index *x = &index_[note];
    size_t i = first_after(x->entry, x->count, lo > from ? lo : from);

    while (i < x->count && x->entry[i].m->base < from) /* two entries meet on a page: merged */
        i++;
    return i < x->count && x->entry[i].lo < hi ? x->entry[i].m : NULL;
}

/* --- changes ------------------------------------------------------------------------------------------------------ */

static void put(struct entry *to, const struct entry *from)
{
    __atomic_store_n(&to->lo, from->lo, __ATOMIC_RELEASE);
    __atomic_store_n(&to->hi, from->hi, __ATOMIC_RELEASE);
    __atomic_store_n(&to->parts, from->parts, __ATOMIC_RELEASE);
    __atomic_store_n(&to->shift, from->shift, __ATOMIC_RELEASE);
    to->m = from->m;
}

static void add(struct index *x, struct sc_matrix *m, uint64_t parts)
{
    const struct entry fresh = {page_floor(m->base), page_ceil(sc_matrix_end(m)), parts, shift_of(m), m};
    size_t at = x->count;

    __atomic_store_n(&x->serial, x->serial + 1, __ATOMIC_SEQ_CST);
    for (; at && x->entry[at - 1].m->base > m->base; at--)
        put(&x->entry[at], &x->entry[at - 1]);
    put(&x->entry[at], &fresh);
    __atomic_store_n(&x->count, x->count + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&x->serial, x->serial + 1, __ATOMIC_SEQ_CST);
}

/* Position of the matrix's entry, or `count`. */
static size_t entry_of(const struct index *x, const struct sc_matrix *m)
{
    size_t at = first_after(x->entry, x->count, m->base);

    while (at < x->count && x->entry[at].m != m)
        at++;
    return at;
}

static void drop(struct index *x, struct sc_matrix *m)
{
    size_t at = entry_of(x, m);

    if (at == x->count)
        return;
    __atomic_store_n(&x->serial, x->serial + 1, __ATOMIC_SEQ_CST);
    for (; at + 1 < x->count; at++)
        put(&x->entry[at], &x->entry[at + 1]);
    __atomic_store_n(&x->count, x->count - 1, __ATOMIC_RELEASE);
    __atomic_store_n(&x->serial, x->serial + 1, __ATOMIC_SEQ_CST);
}

static bool grow(struct index *x, struct entry **array, size_t capacity)
{
    *array = malloc(capacity * sizeof **array);
    if (!*array)
        return false;
    for (size_t i = 0; i < x->count; i++)
        (*array)[i] = x->entry[i];
    __atomic_store_n(&x->entry, *array, __ATOMIC_RELEASE);
    return true;
}

bool sc_noted_reserve(size_t matrices)
{
    size_t capacity = capacity_ ? 2 * capacity_ : 64;

    if (matrices <= capacity_)
        return true;
    for (int i = 0; i < SC_NOTES; i++)
        if (arrays_count_ == ARRAYS_MAX || !grow(&index_[i], &arrays_[i][arrays_count_], capacity))
            return false;
    arrays_count_++;
    capacity_ = capacity;
    return true;
}

static void change(struct index *x, struct sc_matrix *m, uint64_t parts)
{
    struct entry *entry = &x->entry[entry_of(x, m)];

    sc_assert(entry < x->entry + x->count);
    if (entry->parts == parts)
        return;
    __atomic_store_n(&x->serial, x->serial + 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&entry->parts, parts, __ATOMIC_RELEASE);
    __atomic_store_n(&x->serial, x->serial + 1, __ATOMIC_SEQ_CST);
}

/* parts 0: the matrix leaves the index. */
static void note(struct sc_matrix *m, enum sc_note what, uint64_t parts)
{
    bool on = parts != 0;

    if (m->noted[what] && on)
        change(&index_[what], m, parts);
    else if (on)
        add(&index_[what], m, parts);
    else if (m->noted[what])
        drop(&index_[what], m);
    m->noted[what] = on;
}

/* Of `sectors` of tile column j: `closed` are closed, the others open. */
static void set(struct sc_matrix *m, int j, uint64_t sectors, enum sc_note what, uint64_t closed)
{
    struct sc_closed *c = &m->closed[what];
    uint64_t *word = &c->sectors[j], more = sectors & closed & ~*word, fewer = sectors & ~closed & *word;
    uint64_t parts = c->parts;

    if (!(more | fewer))
        return;
    *word ^= more | fewer;
    c->count += __builtin_popcountll(more) - __builtin_popcountll(fewer);
    if (fewer)
        parts &= ~parts_left(m, j, fewer, what);
    parts |= parts_of(m, j, more);
    sc_assert((parts != 0) == (c->count > 0));
    if (parts != c->parts || !m->noted[what])
        note(m, what, parts);
    c->parts = parts;
}

void sc_closed_set(struct sc_matrix *m, int j, uint64_t sectors, uint64_t reading, uint64_t writing)
{
    sc_assert(j >= 0 && j < m->col_parts);
    set(m, j, sectors, SC_CLOSED_READ, reading);
    set(m, j, sectors, SC_CLOSED_WRITE, writing);
}

void sc_noted_fetched(struct sc_matrix *m, bool fetched)
{
    if (m->noted[SC_FETCHED] != fetched)
        note(m, SC_FETCHED, fetched ? UINT64_MAX : 0);
}

void sc_noted_forget(struct sc_matrix *m)
{
    for (int i = 0; i < SC_NOTES; i++)
        note(m, (enum sc_note)i, 0);
}

int sc_closed_sector(const struct sc_matrix *m, int g, int end, enum sc_note kind)
{
    while (g < end) {
        uint64_t rest = m->closed[kind].sectors[g / SC_SECTORS] >> g % SC_SECTORS;

        if (rest) {
            g += __builtin_ctzll(rest);
            break;
        }
        g = (g / SC_SECTORS + 1) * SC_SECTORS;
    }
    return g < end ? g : end;
}
/* SPDX-License-Identifier: BSD-2-Clause */
