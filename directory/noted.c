/* Indices of matrices with closed pages, or with fetches, by host address; read without a lock.  Entries are sorted
 * by address, with ascending beginnings and ends: a binary search finds the entries that meet a range, in steps that
 * do not depend on matrices at home.  Writers hold the protocol's lock and make `serial` odd while they write.  A
 * reader that sees a change of `serial` answers "there is an entry"; the caller then takes the lock and looks
 * again.  A replaced array is kept, because readers may still use it; all replaced arrays together are no larger
 * than the current array. */
#include "directory/directory.h"

#include <stdlib.h>

struct entry {
    uintptr_t lo, hi; /* whole pages */
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
    i = first_after(entry, count, lo);
    if (i < count && load(&entry[i].lo) < hi)
        return true;
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
    to->m = from->m;
}

static void add(struct index *x, struct sc_matrix *m)
{
    const struct entry fresh = {page_floor(m->base), page_ceil(sc_matrix_end(m)), m};
    size_t at = x->count;

    __atomic_store_n(&x->serial, x->serial + 1, __ATOMIC_SEQ_CST);
    for (; at && x->entry[at - 1].m->base > m->base; at--)
        put(&x->entry[at], &x->entry[at - 1]);
    put(&x->entry[at], &fresh);
    __atomic_store_n(&x->count, x->count + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&x->serial, x->serial + 1, __ATOMIC_SEQ_CST);
}

static void drop(struct index *x, struct sc_matrix *m)
{
    size_t at = first_after(x->entry, x->count, m->base);

    while (at < x->count && x->entry[at].m != m)
        at++;
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

static void note(struct sc_matrix *m, enum sc_note what, bool on)
{
    if (m->noted[what] == on)
        return;
    m->noted[what] = on;
    (on ? add : drop)(&index_[what], m);
}

static void set(struct sc_matrix *m, int g, enum sc_note what, bool closed)
{
    struct sc_closed *c = &m->closed[what];
    uint64_t *word = &c->sectors[g / SC_SECTORS], bit = UINT64_C(1) << g % SC_SECTORS;

    if (closed == ((*word & bit) != 0))
        return;
    *word ^= bit;
    c->count += closed ? 1 : -1;
    note(m, what, c->count > 0);
}

void sc_closed_set(struct sc_matrix *m, int g, bool reading, bool writing)
{
    set(m, g, SC_CLOSED_READ, reading);
    set(m, g, SC_CLOSED_WRITE, writing);
}

void sc_noted_fetched(struct sc_matrix *m, bool fetched)
{
    note(m, SC_FETCHED, fetched);
}

void sc_noted_forget(struct sc_matrix *m)
{
    for (int i = 0; i < SC_NOTES; i++)
        note(m, (enum sc_note)i, false);
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
