/* Handles of the Sparse BLAS: creation, look-up, properties, destruction. */
#include <stdlib.h>
#include <string.h>

#include "base/inside.h"
#include "base/locks.h"
#include "sparse/mkl.h"
#include "sparse/usblas.h"

/* --- the table ---------------------------------------------------------------------------------------------------- */

/* A handle consists of the number of a slot and, above it, the slot's count of uses.  A destroyed handle is therefore
 * not mistaken for the next matrix in the slot, and small numbers are never handles. */
#define SLOT_BITS 20
#define SLOTS_MAX (1 << SLOT_BITS)
#define USES_MAX 2047

static struct sc_lock table_lock = SC_LOCK(SC_RANK_SPARSE_TABLE);
static struct slot {
    struct sc_usblas *matrix;
    int uses, next_free;
} *table;
static int slots, first_free = -1;

/* Returns a free slot, or -1 without memory.  Lock held. */
static int free_slot(void)
{
    int more = slots ? 2 * slots : 64, slot;
    struct slot *larger;

    if (first_free < 0) {
        larger = more <= SLOTS_MAX ? realloc(table, (size_t)more * sizeof *table) : NULL;
        if (!larger)
            return -1;
        table = larger;
        for (int i = more - 1; i >= slots; i--) {
            table[i] = (struct slot){.next_free = first_free};
            first_free = i;
        }
        slots = more;
    }
    slot = first_free;
    first_free = table[slot].next_free;
    table[slot].uses = table[slot].uses % USES_MAX + 1;
    return slot;
}

static int enter(struct sc_usblas *m)
{
    int slot, handle = -1;

    sc_lock(&table_lock);
    slot = free_slot();
    if (slot >= 0) {
        table[slot].matrix = m;
        handle = table[slot].uses << SLOT_BITS | slot;
    }
    sc_unlock(&table_lock);
    return handle;
}

/* NULL: no such handle.  Lock held. */
static struct slot *slot_of(int handle)
{
    int slot = handle & (SLOTS_MAX - 1);

    return handle > 0 && slot < slots && table[slot].matrix && table[slot].uses == handle >> SLOT_BITS ? &table[slot]
                                                                                                       : NULL;
}

static struct sc_usblas *use(int handle)
{
    struct sc_usblas *m = NULL;
    struct slot *slot;

    sc_lock(&table_lock);
    slot = slot_of(handle);
    if (slot) {
        m = slot->matrix;
        m->users++;
    }
    sc_unlock(&table_lock);
    return m;
}

static void release(struct sc_usblas *m)
{
    free(m->row_at);
    free(m->col_at);
    free(m->row);
    free(m->col);
    free(m->values);
    sc_sparse_destroy(m->matrix);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

static void unuse(struct sc_usblas *m)
{
    bool last;

    sc_lock(&table_lock);
    last = !--m->users;
    sc_unlock(&table_lock);
    if (last)
        release(m);
}

/* --- taking and giving back --------------------------------------------------------------------------------------- */

int sc_usblas_wrong(const char *name, const char *what)
{
    sc_log(SC_LOG_ERROR, "%s: %s", name, what);
    return -1;
}

static int no_handle(const char *name, int handle)
{
    sc_log(SC_LOG_ERROR, "%s: %d is no matrix's handle", name, handle);
    return -1;
}

struct sc_usblas *sc_usblas_take(int handle, const char *name, int type, enum sc_usblas_want want)
{
    struct sc_usblas *m = use(handle);
    const char *wrong = NULL;
    bool ended;

    if (!m) {
        no_handle(name, handle);
        return NULL;
    }
    pthread_mutex_lock(&m->lock);
    ended = m->matrix;
    if (type >= 0 && m->type != (enum sc_type)type)
        wrong = "the matrix has another type";
    else if (want == SC_USBLAS_OPEN && ended)
        wrong = "the matrix has been ended";
    else if (want == SC_USBLAS_ENDED && !ended)
        wrong = "the matrix has not been ended";
    if (wrong || want == SC_USBLAS_ENDED)
        pthread_mutex_unlock(&m->lock);
    if (!wrong)
        return m;
    unuse(m);
    sc_usblas_wrong(name, wrong);
    return NULL;
}

void sc_usblas_give(struct sc_usblas *m, enum sc_usblas_want want)
{
    if (want != SC_USBLAS_ENDED)
        pthread_mutex_unlock(&m->lock);
    unuse(m);
}

/* --- creation ----------------------------------------------------------------------------------------------------- */

/* The size of a matrix as given by the program: blocks_down x blocks_across blocks of size block_rows x block_cols, or
 * of size rows[i] x cols[j]. */
struct shape {
    const char *name;
    enum sc_type type;
    int64_t blocks_down, blocks_across;
    int64_t block_rows, block_cols;
    const int *rows, *cols;
};

/* The boundaries of blocks with these sizes.  NULL: no memory, a size below 1, or a sum out of range. */
static int32_t *offsets(const int *sizes, int64_t n)
{
    int32_t *at = malloc(((size_t)n + 1) * sizeof *at);
    int64_t sum = 0;

    if (!at)
        return NULL;
    at[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += sizes[i];
        if (sizes[i] < 1 || sum > INT32_MAX) {
            free(at);
            return NULL;
        }
        at[i + 1] = (int32_t)sum;
    }
    return at;
}

static bool set_size(struct sc_usblas *m, const struct shape *s)
{
    m->rows = s->blocks_down * s->block_rows;
    m->cols = s->blocks_across * s->block_cols;
    if (!s->rows)
        return true;
    m->row_at = offsets(s->rows, s->blocks_down);
    m->col_at = offsets(s->cols, s->blocks_across);
    if (!m->row_at || !m->col_at)
        return false;
    m->rows = m->row_at[s->blocks_down];
    m->cols = m->col_at[s->blocks_across];
    return true;
}

static int begin(const struct shape *s, int base)
{
    struct sc_usblas *m;
    int handle;

    if (s->blocks_down < 0 || s->blocks_across < 0 || s->block_rows < 1 || s->block_cols < 1 ||
        s->blocks_down * s->block_rows > INT32_MAX || s->blocks_across * s->block_cols > INT32_MAX)
        return sc_usblas_wrong(s->name, "a size makes no sense, or is too large");
    if (base && sc_mkl_wide())
        return sc_usblas_wrong(s->name, "the program's integers have 64 bits, which is not supported");
    m = calloc(1, sizeof *m);
    if (!m)
        return sc_usblas_wrong(s->name, "no memory");
    pthread_mutex_init(&m->lock, NULL);
    m->users = 1; /* the table */
    m->type = s->type;
    m->blocks_down = s->blocks_down;
    m->blocks_across = s->blocks_across;
    m->block_rows = s->block_rows;
    m->block_cols = s->block_cols;
    m->base = base;
    m->descr = (struct sc_sparse_descr){.kind = SC_SPARSE_GENERAL, .uplo = 'L', .diag = 'N'};
    m->order = blas_colmajor;
    handle = set_size(m, s) ? enter(m) : -1;
    if (handle < 0) {
        release(m);
        return sc_usblas_wrong(s->name, "no memory, or a block's size makes no sense");
    }
    return handle;
}

static void fortran_begin(const struct shape *s, int *handle, int *status)
{
    *handle = begin(s, 1);
    *status = *handle < 0 ? -1 : 0;
}

#define BEGIN(l, t, element, scalar, at)                                                                             \
    blas_sparse_matrix BLAS_##l##uscr_begin(int rows, int cols)                                                      \
    {                                                                                                                \
        return begin(&(struct shape){"BLAS_" #l "uscr_begin", t, rows, cols, 1, 1, NULL, NULL}, 0);                  \
    }                                                                                                                \
    SC_USBLAS_FORTRAN(l##uscr_begin, const int *rows, const int *cols, int *m, int *status)                          \
    {                                                                                                                \
        fortran_begin(&(struct shape){#l "uscr_begin", t, *rows, *cols, 1, 1, NULL, NULL}, m, status);               \
    }                                                                                                                \
    blas_sparse_matrix BLAS_##l##uscr_block_begin(int down, int across, int rows, int cols)                          \
    {                                                                                                                \
        return begin(&(struct shape){"BLAS_" #l "uscr_block_begin", t, down, across, rows, cols, NULL, NULL}, 0);    \
    }                                                                                                                \
    SC_USBLAS_FORTRAN(l##uscr_block_begin, const int *down, const int *across, const int *rows, const int *cols,     \
                      int *m, int *status)                                                                           \
    {                                                                                                                \
        fortran_begin(&(struct shape){#l "uscr_block_begin", t, *down, *across, *rows, *cols, NULL, NULL}, m,        \
                      status);                                                                                       \
    }                                                                                                                \
    blas_sparse_matrix BLAS_##l##uscr_variable_block_begin(int down, int across, const int *rows, const int *cols)   \
    {                                                                                                                \
        return begin(&(struct shape){"BLAS_" #l "uscr_variable_block_begin", t, down, across, 1, 1, rows, cols}, 0); \
    }                                                                                                                \
    SC_USBLAS_FORTRAN(l##uscr_variable_block_begin, const int *down, const int *across, const int *rows,             \
                      const int *cols, int *m, int *status)                                                          \
    {                                                                                                                \
        fortran_begin(&(struct shape){#l "uscr_variable_block_begin", t, *down, *across, 1, 1, rows, cols}, m,       \
                      status);                                                                                       \
    }
SC_USBLAS_TYPES(BEGIN)

/* --- properties --------------------------------------------------------------------------------------------------- */

static int set_kind(struct sc_usblas *m, const char *name, enum sc_sparse_kind kind, bool upper)
{
    if (kind != SC_SPARSE_GENERAL && m->rows != m->cols)
        return sc_usblas_wrong(name, "a symmetric or triangular matrix is square");
    m->descr.kind = kind;
    m->descr.uplo = upper ? 'U' : 'L';
    return 0;
}

/* Properties of librsb's methods, without effect here. */
static bool is_of_librsb(int property)
{
    return (property >= 6660 && property <= 6666) || (property >= 9993 && property <= 9997);
}

static int set_property(struct sc_usblas *m, const char *name, int property)
{
    if (m->opened)
        return sc_usblas_wrong(name, "a property after the first entry");
    switch (property) {
    case blas_general: return set_kind(m, name, SC_SPARSE_GENERAL, false);
    case blas_lower_triangular:
    case blas_upper_triangular:
        return set_kind(m, name, SC_SPARSE_TRIANGULAR, property == blas_upper_triangular);
    case blas_lower_symmetric:
    case blas_upper_symmetric:
        return set_kind(m, name, SC_SPARSE_SYMMETRIC, property == blas_upper_symmetric);
    case blas_lower_hermitian:
    case blas_upper_hermitian:
        return set_kind(m, name, SC_SPARSE_HERMITIAN, property == blas_upper_hermitian);
    case blas_unit_diag:
    case blas_non_unit_diag: m->descr.diag = property == blas_unit_diag ? 'U' : 'N'; return 0;
    case blas_zero_base:
    case blas_one_base: m->base = property == blas_one_base; return 0;
    case SC_USBLAS_OVERWRITE:
    case SC_USBLAS_SUM: m->overwrites = property == SC_USBLAS_OVERWRITE; return 0;
    case blas_rowmajor:
    case blas_colmajor: m->order = property; return 0;
    case blas_regular:
    case blas_irregular:
    case blas_block:
    case blas_unassembled: m->hint = property; return 0;
    default: sc_log(SC_LOG_ERROR, "%s: %d is no property that can be set", name, property); return -1;
    }
}

static int64_t entries(const struct sc_usblas *m)
{
    int64_t n = m->count;

    if (m->matrix)
        sc_sparse_check(m->matrix, &n);
    return n < INT32_MAX ? n : INT32_MAX;
}

static int64_t get_property(const struct sc_usblas *m, const char *name, int property)
{
    const struct sc_sparse_descr *d = &m->descr;
    bool upper = d->uplo == 'U', complexes = sc_type_is_complex(m->type);
    bool doubles = m->type == SC_D || m->type == SC_Z;

    switch (property) {
    case blas_num_rows: return m->rows;
    case blas_num_cols: return m->cols;
    case blas_num_nonzeros: return entries(m);
    case blas_complex: return complexes;
    case blas_real: return !complexes;
    case blas_double_precision: return doubles;
    case blas_single_precision: return !doubles;
    case blas_general: return d->kind == SC_SPARSE_GENERAL;
    case blas_symmetric: return d->kind == SC_SPARSE_SYMMETRIC;
    case blas_hermitian: return d->kind == SC_SPARSE_HERMITIAN;
    case blas_triangular: return d->kind == SC_SPARSE_TRIANGULAR;
    case blas_lower_triangular: return d->kind == SC_SPARSE_TRIANGULAR && !upper;
    case blas_upper_triangular: return d->kind == SC_SPARSE_TRIANGULAR && upper;
    case blas_lower_symmetric: return d->kind == SC_SPARSE_SYMMETRIC && !upper;
    case blas_upper_symmetric: return d->kind == SC_SPARSE_SYMMETRIC && upper;
    case blas_lower_hermitian: return d->kind == SC_SPARSE_HERMITIAN && !upper;
    case blas_upper_hermitian: return d->kind == SC_SPARSE_HERMITIAN && upper;
    case blas_unit_diag: return d->diag == 'U';
    case blas_non_unit_diag: return d->diag != 'U';
    case blas_zero_base: return !m->base;
    case blas_one_base: return m->base;
    case SC_USBLAS_OVERWRITE: return m->overwrites;
    case SC_USBLAS_SUM: return !m->overwrites;
    case blas_rowmajor:
    case blas_colmajor: return m->order == property;
    case blas_regular:
    case blas_irregular:
    case blas_block:
    case blas_unassembled: return m->hint == property;
    case blas_invalid_handle: return 0;
    case blas_new_handle: return !m->opened && !m->matrix;
    case blas_open_handle: return !m->matrix;
    case blas_valid_handle: return m->matrix != NULL;
    default: sc_log(SC_LOG_ERROR, "%s: %d is no property", name, property); return -1;
    }
}

int BLAS_ussp(blas_sparse_matrix handle, int property)
{
    struct sc_usblas *m;
    int result;

    m = sc_usblas_take(handle, "BLAS_ussp", -1, is_of_librsb(property) ? SC_USBLAS_ANY : SC_USBLAS_OPEN);
    if (!m)
        return -1;
    result = is_of_librsb(property) ? 0 : set_property(m, "BLAS_ussp", property);
    sc_usblas_give(m, SC_USBLAS_OPEN);
    return result;
}

int BLAS_usgp(blas_sparse_matrix handle, int property)
{
    struct sc_usblas *m = use(handle);
    int64_t result;

    if (!m && property >= blas_invalid_handle && property <= blas_valid_handle)
        return property == blas_invalid_handle;
    if (!m)
        return no_handle("BLAS_usgp", handle);
    pthread_mutex_lock(&m->lock);
    result = is_of_librsb(property) ? 0 : get_property(m, "BLAS_usgp", property);
    sc_usblas_give(m, SC_USBLAS_ANY);
    return (int)result;
}

SC_USBLAS_FORTRAN(ussp, const int *m, const int *property, int *status)
{
    *status = BLAS_ussp(*m, *property);
}

SC_USBLAS_FORTRAN(usgp, const int *m, const int *property, int *status)
{
    *status = BLAS_usgp(*m, *property);
}

/* Names used by librsb's header for C programs. */
extern __typeof__(BLAS_ussp) rsb__wp__BLAS_ussp __attribute__((alias("BLAS_ussp"), visibility("default")));
extern __typeof__(BLAS_usgp) rsb__wp__BLAS_usgp __attribute__((alias("BLAS_usgp"), visibility("default")));

/* --- end and destruction ------------------------------------------------------------------------------------------ */

static int end(int handle, const char *name, int type)
{
    struct sc_usblas *m = sc_usblas_take(handle, name, type, SC_USBLAS_OPEN);
    enum sc_status status;

    if (!m)
        return -1;
    status = sc_usblas_assemble(m);
    sc_usblas_give(m, SC_USBLAS_OPEN);
    return status == SC_OK ? 0 : sc_usblas_wrong(name, "no memory");
}

int BLAS_usds(blas_sparse_matrix handle)
{
    struct sc_usblas *m = NULL;
    struct slot *slot;

    sc_lock(&table_lock);
    slot = slot_of(handle);
    if (slot) {
        m = slot->matrix;
        slot->matrix = NULL;
        slot->next_free = first_free;
        first_free = (int)(slot - table);
    }
    sc_unlock(&table_lock);
    if (!m)
        return no_handle("BLAS_usds", handle);
    unuse(m);
    return 0;
}

#define END(l, t, element, scalar, at)                                                                               \
    int BLAS_##l##uscr_end(blas_sparse_matrix m)                                                                     \
    {                                                                                                                \
        return end(m, "BLAS_" #l "uscr_end", t);                                                                     \
    }                                                                                                                \
    SC_USBLAS_FORTRAN(l##uscr_end, const int *m, int *status)                                                        \
    {                                                                                                                \
        *status = end(*m, #l "uscr_end", t);                                                                         \
    }
SC_USBLAS_TYPES(END)

int BLAS_uscr_end(blas_sparse_matrix m)
{
    return end(m, "BLAS_uscr_end", -1);
}

SC_USBLAS_FORTRAN(uscr_end, const int *m, int *status)
{
    *status = end(*m, "uscr_end", -1);
}

SC_USBLAS_FORTRAN(usds, const int *m, int *status)
{
    *status = BLAS_usds(*m);
}
/* SPDX-License-Identifier: BSD-2-Clause */
