/* Validity of a call's arguments, and the memory that the call uses. */
#include "blas/blas_int.h"

struct sc_kernel sc_blas_call_as_kernel(const struct sc_blas_call *call)
{
    const struct sc_blas_row *row = &sc_blas_rows[call->routine];
    struct sc_kernel kernel = {
        .op = (enum sc_op)row->op, .type = call->type, .scale_real = row->scale_real,
        .transa = call->transa, .transb = call->transb, .side = call->side, .uplo = call->uplo, .diag = call->diag,
        .conj = call->conj, .loops = call->loops, .m = call->m, .n = call->n, .k = call->k, .kl = call->kl,
        .ku = call->ku,
        .alpha = {call->alpha[0], call->alpha[1]}, .beta = {call->beta[0], call->beta[1]},
    };
    struct {
        void **ptr;
        int64_t *ld;
    } slot[3] = {{&kernel.a, &kernel.lda}, {&kernel.b, &kernel.ldb}, {&kernel.c, &kernel.ldc}};
    const struct sc_op_info *op = &sc_ops[row->op];

    for (int i = 0; op->letters[i]; i++) {
        void **ptr = slot[op->slots[i] - 'a'].ptr;
        int64_t *ld = slot[op->slots[i] - 'a'].ld;

        switch (op->letters[i]) {
        case 'A': *ptr = call->a, *ld = call->lda; break;
        case 'P': *ptr = call->a, *ld = 1; break;
        case 'B': *ptr = call->b, *ld = call->ldb; break;
        case 'C': *ptr = call->c, *ld = call->ldc; break;
        case 'X': *ptr = call->x, *ld = call->incx; break;
        default: *ptr = call->y, *ld = call->incy;
        }
    }
    return kernel;
}

int sc_blas_call_views(const struct sc_blas_call *call, struct sc_view view[SC_VIEWS_MAX])
{
    const struct sc_kernel kernel = sc_blas_call_as_kernel(call);

    return sc_kernel_views(&kernel, view);
}

/* A letter that the routine does not have is 0.  OpenBLAS accepts more values of trans; such calls are left to
 * OpenBLAS. */
static bool takes(const struct sc_blas_call *call, enum sc_letter name, char letter)
{
    return !letter || sc_op_takes((enum sc_op)sc_blas_rows[call->routine].op, call->type, name, letter);
}

static bool letters_valid(const struct sc_blas_call *call)
{
    return takes(call, SC_TRANSA, call->transa) && takes(call, SC_TRANSB, call->transb) &&
           takes(call, SC_SIDE, call->side) && takes(call, SC_UPLO, call->uplo) && takes(call, SC_DIAG, call->diag);
}

static bool ld_valid(const struct sc_view *view)
{
    const struct sc_view flat = sc_view_flat(view);

    return flat.ld >= 1 && flat.ld >= flat.rows;
}

bool sc_blas_call_valid(const struct sc_blas_call *call)
{
    struct sc_view view[SC_VIEWS_MAX];

    if (sc_blas_rows[call->routine].level == 1)
        return true; /* every value of an argument is allowed */
    if (call->order == '?' || call->m < 0 || call->n < 0 || call->k < 0 || call->kl < 0 || call->ku < 0)
        return false;
    if (!letters_valid(call))
        return false;
    for (int i = sc_blas_call_views(call, view) - 1; i >= 0; i--)
        if (!ld_valid(&view[i]))
            return false;
    return true;
}

/* True when the named argument of a Fortran call is invalid. */
static bool is_wrong(const struct sc_blas_call *call, const char *name, size_t length)
{
    const struct {
        const char *name;
        bool wrong;
    } simple[] = {
        {"side", !takes(call, SC_SIDE, call->side)}, {"uplo", !takes(call, SC_UPLO, call->uplo)},
        {"trans", !takes(call, SC_TRANSA, call->transa)}, {"transa", !takes(call, SC_TRANSA, call->transa)},
        {"transb", !takes(call, SC_TRANSB, call->transb)}, {"diag", !takes(call, SC_DIAG, call->diag)},
        {"m", call->m < 0}, {"n", call->n < 0}, {"k", call->k < 0}, {"kl", call->kl < 0}, {"ku", call->ku < 0},
        {"incx", call->incx == 0}, {"incy", call->incy == 0},
    };
    struct sc_view view[SC_VIEWS_MAX];

    for (size_t i = 0; i < sizeof simple / sizeof *simple; i++)
        if (strlen(simple[i].name) == length && !strncmp(simple[i].name, name, length))
            return simple[i].wrong;
    if (length != 3 || strncmp(name, "ld", 2) || !sc_blas_call_fits(call))
        return false;
    for (int i = sc_blas_call_views(call, view) - 1; i >= 0; i--)
        if ((sc_blas_letters(call->routine)[i] | 32) == name[2])
            return !ld_valid(&view[i]);
    return false;
}

int sc_blas_call_wrong(const struct sc_blas_call *call)
{
    const struct sc_blas_row *row = &sc_blas_rows[call->routine];
    int position = 1;

    for (const char *at = row->arguments; row->level > 1 && at; position++) {
        const char *end = strchr(at, ' ');

        if (is_wrong(call, at, end ? (size_t)(end - at) : strlen(at)))
            return position;
        at = end ? end + 1 : NULL;
    }
    return 0;
}

/* The step from an element to the next in elements: the increment modulo 2^64 / bytes. */
static int64_t step_of(int64_t inc, int64_t bytes) { return (int64_t)((uint64_t)inc * (uint64_t)bytes) / bytes; }

/* A BLAS computes addresses modulo 2^64: NumPy passes 2^61 - 4 for a step of -4 doubles.  Replaces the increment by
 * the step; elements and order stay. */
static void unwrap(enum sc_type type, int64_t n, void **vector, int64_t *inc)
{
    int64_t bytes = (int64_t)sc_type_bytes(type), step = step_of(*inc, bytes);
    uint64_t first = (uint64_t)(uintptr_t)*vector, length = (uint64_t)(n - 1) * (uint64_t)bytes;

    if (step == *inc || n < 1)
        return;
    first -= *inc < 0 ? length * (uint64_t)*inc : 0;
    first += step < 0 ? length * (uint64_t)step : 0;
    *vector = (void *)(uintptr_t)first;
    *inc = step;
}

void sc_blas_call_unwrap(struct sc_blas_call *call)
{
    const struct sc_blas_row *row = &sc_blas_rows[call->routine];
    const char *letters = sc_blas_letters(call->routine);
    struct sc_view view[SC_VIEWS_MAX];
    bool alone = row->level == 1 && !letters[1];

    if (row->level > 2 || (alone && (call->incx < 1 || step_of(call->incx, (int64_t)sc_type_bytes(call->type)) < 1)))
        return;
    for (int i = sc_blas_call_views(call, view) - 1; i >= 0; i--) {
        if (letters[i] == 'X')
            unwrap(call->type, view[i].rows, &call->x, &call->incx);
        if (letters[i] == 'Y')
            unwrap(call->type, view[i].rows, &call->y, &call->incy);
    }
}

bool sc_blas_call_fits(const struct sc_blas_call *call)
{
    const int64_t most = strchr(sc_blas_letters(call->routine), 'P') ? SC_BLAS_PACKED_MAX : SC_BLAS_SIDE_MAX;

    return call->m <= most && call->n <= most && call->k <= most && call->kl <= most && call->ku <= most;
}

static int64_t clamp(int64_t value) { return value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : value; }

/* Narrows steps that are never made: of a vector of at most one element, of a matrix of at most one column. */
static void narrow_steps(struct sc_blas_call *call)
{
    struct sc_view view[SC_VIEWS_MAX];

    for (int i = sc_blas_call_views(call, view) - 1; i >= 0; i--) {
        if ((view[i].vector ? view[i].rows : view[i].cols) > 1)
            continue;
        switch (sc_blas_letters(call->routine)[i]) {
        case 'X': call->incx = sc_blas_unit(call->incx); break;
        case 'Y': call->incy = sc_blas_unit(call->incy); break;
        case 'A': call->lda = sc_blas_least(call->lda, INT32_MAX); break;
        case 'B': call->ldb = sc_blas_least(call->ldb, INT32_MAX); break;
        case 'C': call->ldc = sc_blas_least(call->ldc, INT32_MAX); break;
        }
    }
}

bool sc_blas_call_narrow(struct sc_blas_call *call)
{
    int64_t *const all[] = {&call->m, &call->n, &call->k, &call->kl, &call->ku, &call->lda, &call->ldb, &call->ldc,
                            &call->incx, &call->incy};
    enum { SIZES = 5, ALL = sizeof all / sizeof *all };
    bool negative = false;

    for (int i = 0; i < SIZES; i++)
        negative = negative || *all[i] < 0;
    if (!negative && sc_blas_call_fits(call)) {
        sc_blas_call_unwrap(call);
        narrow_steps(call);
    }
    for (int i = 0; i < ALL; i++) {
        if (negative)
            *all[i] = clamp(*all[i]); /* the host reports the bad size */
        else if (!sc_blas_fits(*all[i]))
            return false;
    }
    return true;
}

/* Names of operands.  The row-major conversion exchanges some operands. */
enum name { A, B, C, X, Y, NAMES };

/* Shapes come from the column-major form of the call.  In that form the addresses are replaced by markers that
 * identify the program's operands. */
int sc_blas_name_operands(const struct sc_blas_call *asked, struct sc_blas_named *named)
{
    static char numbers[NAMES];
    const void *const address[NAMES] = {asked->a, asked->b, asked->c, asked->x, asked->y};
    const int64_t step[NAMES] = {asked->lda, asked->ldb, asked->ldc, asked->incx, asked->incy};
    const struct sc_blas_row *row = &sc_blas_rows[asked->routine];
    bool packed = strchr(sc_blas_letters(asked->routine), 'P') != NULL;
    struct sc_view view[SC_VIEWS_MAX];
    struct sc_blas_call call = *asked;
    int count;

    call.a = &numbers[A];
    call.b = &numbers[B];
    call.c = &numbers[C];
    call.x = &numbers[X];
    call.y = &numbers[Y];
    if (call.order == SC_BLAS_ROWS && row->columns)
        row->columns(&call);
    count = sc_blas_call_views(&call, view);
    for (int i = 0; i < count; i++) {
        int which = (int)((const char *)view[i].ptr - numbers);

        named[i] = (struct sc_blas_named){sc_view_flat(&view[i]), which == A && packed ? 'P' : "ABCXY"[which],
                                          which == A && packed ? 1 : step[which]};
        named[i].shape.ptr = address[which];
    }
    return count;
}
/* SPDX-License-Identifier: BSD-2-Clause */
