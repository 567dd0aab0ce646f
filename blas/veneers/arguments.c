/* Validity of a call's arguments, and the memory that the call uses. */
#include "blas/blas_int.h"

static bool letter_in(char letter, const char *valid)
{
    if (!letter)
        return true;
    while (*valid && *valid != letter)
        valid++;
    return *valid != 0;
}

/* The values of trans that a routine accepts.  OpenBLAS accepts more; such calls are left to OpenBLAS. */
static const char *trans_of(const struct sc_blas_row *row)
{
    if (row->level == 3 && sc_type_is_complex(row->type)) {
        if (row->op == SC_OP_HERK || row->name[1] == 'h')
            return "NC";
        if (row->name[1] == 's')
            return "NT";
    }
    return "NTC";
}

bool sc_blas_call_valid(const struct sc_blas_call *call)
{
    const struct sc_blas_row *row = &sc_blas_rows[call->routine];
    struct sc_blas_operand operands[SC_BLAS_OPERANDS_MAX];

    if (row->level == 1)
        return true; /* every value of an argument is allowed */
    if (call->order == '?' || call->m < 0 || call->n < 0 || call->k < 0 || call->kl < 0 || call->ku < 0)
        return false;
    if (!letter_in(call->transa, trans_of(row)) || !letter_in(call->transb, "NTC") || !letter_in(call->side, "LR") ||
        !letter_in(call->uplo, "UL") || !letter_in(call->diag, "NU"))
        return false;
    for (int i = row->operands(call, operands) - 1; i >= 0; i--)
        if (operands[i].ld < 1 || operands[i].ld < operands[i].rows)
            return false;
    return true;
}

/* True when the named argument of a Fortran call is invalid. */
static bool is_wrong(const struct sc_blas_call *call, const char *name, size_t length)
{
    const struct sc_blas_row *row = &sc_blas_rows[call->routine];
    const struct {
        const char *name;
        bool wrong;
    } simple[] = {
        {"side", !letter_in(call->side, "LR")}, {"uplo", !letter_in(call->uplo, "UL")},
        {"trans", !letter_in(call->transa, trans_of(row))}, {"transa", !letter_in(call->transa, trans_of(row))},
        {"transb", !letter_in(call->transb, "NTC")}, {"diag", !letter_in(call->diag, "NU")},
        {"m", call->m < 0}, {"n", call->n < 0}, {"k", call->k < 0}, {"kl", call->kl < 0}, {"ku", call->ku < 0},
        {"incx", call->incx == 0}, {"incy", call->incy == 0},
    };
    struct sc_blas_operand operands[SC_BLAS_OPERANDS_MAX];

    for (size_t i = 0; i < sizeof simple / sizeof *simple; i++)
        if (strlen(simple[i].name) == length && !strncmp(simple[i].name, name, length))
            return simple[i].wrong;
    if (length != 3 || strncmp(name, "ld", 2) || !sc_blas_call_fits(call))
        return false;
    for (int i = row->operands(call, operands) - 1; i >= 0; i--)
        if ((row->letters[i] | 32) == name[2])
            return operands[i].ld < 1 || operands[i].ld < operands[i].rows;
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
    struct sc_blas_operand operands[SC_BLAS_OPERANDS_MAX];
    bool alone = row->level == 1 && !row->letters[1];

    if (row->level > 2 || (alone && (call->incx < 1 || step_of(call->incx, (int64_t)sc_type_bytes(call->type)) < 1)))
        return;
    for (int i = row->operands(call, operands) - 1; i >= 0; i--) {
        if (row->letters[i] == 'X')
            unwrap(call->type, operands[i].cols, &call->x, &call->incx);
        if (row->letters[i] == 'Y')
            unwrap(call->type, operands[i].cols, &call->y, &call->incy);
    }
}

bool sc_blas_call_fits(const struct sc_blas_call *call)
{
    const int64_t most = strchr(sc_blas_rows[call->routine].letters, 'P') ? SC_BLAS_PACKED_MAX : SC_BLAS_SIDE_MAX;

    return call->m <= most && call->n <= most && call->k <= most && call->kl <= most && call->ku <= most;
}

static int64_t clamp(int64_t value) { return value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : value; }

/* Narrows steps that are never made: of a vector of at most one element, of a matrix of at most one column. */
static void narrow_steps(struct sc_blas_call *call)
{
    const struct sc_blas_row *row = &sc_blas_rows[call->routine];
    struct sc_blas_operand operands[SC_BLAS_OPERANDS_MAX];

    for (int i = row->operands(call, operands) - 1; i >= 0; i--) {
        if (operands[i].cols > 1)
            continue;
        switch (row->letters[i]) {
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
    bool packed = strchr(row->letters, 'P') != NULL;
    struct sc_blas_operand shape[SC_BLAS_OPERANDS_MAX];
    struct sc_blas_call call = *asked;
    int count;

    call.a = &numbers[A];
    call.b = &numbers[B];
    call.c = &numbers[C];
    call.x = &numbers[X];
    call.y = &numbers[Y];
    if (call.order == SC_BLAS_ROWS && row->columns)
        row->columns(&call);
    count = row->operands(&call, shape);
    for (int i = 0; i < count; i++) {
        int which = (int)((const char *)shape[i].ptr - numbers);

        named[i] = (struct sc_blas_named){shape[i], which == A && packed ? 'P' : "ABCXY"[which],
                                          which == A && packed ? 1 : step[which]};
        named[i].shape.ptr = address[which];
    }
    return count;
}
