#include "tests/fake_coherence.h"

#include <stdlib.h>
#include <string.h>

#include "coherence/access.h"
#include "coherence/derived.h"
#include "coherence/devices.h"
#include "coherence/task.h"
#include "tests/blas_random.h"
#include "tests/tap.h"

struct fake fake = {.devices = 1, .tile_rows = 1 << 20, .tile_cols = 1 << 20, .tile_vector = 1 << 20, .sector = 16};

struct sc_matrix {
    int64_t rows, cols, row_step, col_step, row_phase, col_phase;
    int home;
};

static struct sc_matrix matrices[16];
static int matrix_count;
static bool held;
static int temporary_tries, task_tries;

static void error_(const char *what)
{
    fake.errors++;
    tap_diag("fake protocol: %s", what);
}

static void need_lock(const char *where)
{
    if (!held)
        error_(where);
}

/* --- views and cuts ---------------------------------------------------------------------------------------------- */

static uint64_t hash(const void *p)
{
    return ((uint64_t)(uintptr_t)p ^ fake.phase) * UINT64_C(0x9e3779b97f4a7c15) >> 17;
}

static void make_operand(const struct sc_view *view, struct sc_operand *o)
{
    struct sc_matrix *m = &matrices[matrix_count++ % 16];
    uint64_t h = hash(view->ptr);

    *m = (struct sc_matrix){.rows = view->rows, .cols = view->cols,
                            .row_step = view->vector ? fake.tile_vector : fake.tile_rows,
                            .col_step = view->vector ? 1 : fake.tile_cols};
    m->row_phase = (int64_t)(h % (uint64_t)m->row_step);
    m->col_phase = (int64_t)(h / 7 % (uint64_t)m->col_step);
    m->home = (int)(h / 3 % 16);
    if (m->row_step > m->rows)
        m->row_phase = 0;
    if (m->col_step > m->cols)
        m->col_phase = 0;
    *o = (struct sc_operand){.view = *view, .matrix = m, .rows = view->rows, .cols = view->cols};
}

enum sc_status sc_coherence_begin(const struct sc_view *views, int count, struct sc_operand *operands)
{
    if (held)
        error_("begin within a call");
    fake.begins++;
    if (fake.conflict)
        return SC_ERR_CONFLICT;
    held = true;
    for (int i = 0; i < count; i++)
        make_operand(&views[i], &operands[i]);
    return SC_OK;
}

void sc_coherence_end(struct sc_operand *operands, int count)
{
    need_lock("end without begin");
    memset(operands, 0xee, (size_t)count * sizeof *operands);
    held = false;
}

static void cuts_of(int64_t extent, int64_t step, int64_t phase, struct sc_cuts *cuts)
{
    cuts->n = 0;
    cuts->at[0] = 0;
    for (int64_t p = step - phase; p < extent && cuts->n < SC_CUTS_MAX - 1; p += step)
        cuts->at[++cuts->n] = p;
    if (extent > 0)
        cuts->at[++cuts->n] = extent;
}

void sc_coherence_row_cuts(const struct sc_operand *o, struct sc_cuts *cuts)
{
    need_lock("cuts");
    cuts_of(o->view.rows, o->matrix->row_step, o->matrix->row_phase, cuts);
}

void sc_coherence_col_cuts(const struct sc_operand *o, struct sc_cuts *cuts)
{
    if (o->view.vector)
        error_("column cuts of a vector");
    cuts_of(o->view.cols, o->matrix->col_step, o->matrix->col_phase, cuts);
}

void sc_coherence_home_cuts(const struct sc_operand *o, struct sc_cuts *cuts) { sc_coherence_col_cuts(o, cuts); }

void sc_cuts_merge(struct sc_cuts *into, const struct sc_cuts *with)
{
    struct sc_cuts a = *into;
    int i = 0, j = 0, n = -1;

    while (i <= a.n || j <= with->n) {
        int64_t p = i > a.n ? with->at[j] : j > with->n || a.at[i] < with->at[j] ? a.at[i] : with->at[j];

        i += i <= a.n && a.at[i] == p;
        j += j <= with->n && with->at[j] == p;
        into->at[++n] = p;
    }
    if (a.n && with->n && a.at[a.n] != with->at[with->n])
        error_("merged cuts of different extents");
    into->n = n;
}

bool sc_coherence_as_matrix(const struct sc_operand *vector, struct sc_operand *matrix)
{
    struct sc_view view = vector->view;
    int64_t r = fake.column;

    if (!view.vector)
        error_("as_matrix of a matrix");
    /* A hash makes a few operands differ, so that matrices meet vectors. */
    if (!r || view.ld != 1 || view.rows % r || view.rows == r || hash(view.ptr) / 11 % 4 == 0)
        return false;
    view.vector = false;
    view.cols = view.rows / r;
    view.rows = view.ld = r;
    make_operand(&view, matrix);
    return true;
}

int64_t sc_coherence_next_sector(const struct sc_operand *o, int64_t c)
{
    struct sc_cuts cuts;

    sc_coherence_col_cuts(o, &cuts);
    for (int i = 0; i < cuts.n; i++)
        if (c < cuts.at[i + 1]) {
            int64_t s = c <= cuts.at[i] ? cuts.at[i]
                : cuts.at[i] + (c - cuts.at[i] + fake.sector - 1) / fake.sector * fake.sector;

            return s < cuts.at[i + 1] ? s : cuts.at[i + 1];
        }
    return o->view.cols;
}

/* --- where ------------------------------------------------------------------------------------------------------- */

static int64_t tile_at(int64_t position, int64_t step, int64_t phase)
{
    return (position + phase) / step;
}

int sc_coherence_home(const struct sc_piece *p)
{
    const struct sc_matrix *m = p->operand->matrix;
    int64_t i = tile_at(p->r, m->row_step, m->row_phase), j = tile_at(p->c, m->col_step, m->col_phase);

    need_lock("home");
    if (p->operand->view.vector) /* ascending, as segments are */
        return (int)(p->r * fake.devices / (m->rows ? m->rows : 1));
    switch (fake.homes) {
    case FAKE_BY_ROWS: return (int)((i + m->home) % fake.devices);
    case FAKE_BY_COLS: return (int)((j + m->home) % fake.devices);
    case FAKE_CHECKER: return (int)((i + j + m->home) % fake.devices);
    default: return 0;
    }
}

int sc_coherence_where(const struct sc_piece *piece)
{
    return sc_coherence_home(piece);
}

int64_t sc_coherence_run(const struct sc_operand *vector, int64_t r, int64_t limit, int *device)
{
    int64_t n;

    need_lock("run");
    if (limit < 1 || r < 0 || r + limit > vector->view.rows)
        error_("run outside of a vector");
    *device = SC_HOST;
    if (!fake.run)
        return limit;
    *device = (int)((r / fake.run + vector->matrix->home) % (fake.devices + 1)) - 1;
    n = fake.run - r % fake.run;
    return n < limit ? n : limit;
}

bool sc_coherence_ready(int device, const struct sc_piece *p) { return !sc_coherence_missing(device, p); }

uint64_t sc_coherence_missing(int device, const struct sc_piece *p)
{
    (void)device;
    return fake.cold ? UINT64_C(1) << 24 : 0 * (uint64_t)p->rows;
}

bool sc_coherence_contiguous(int device, const struct sc_piece *p)
{
    const struct sc_matrix *m = p->operand->matrix;
    struct sc_cuts cuts;

    (void)device;
    cuts_of(p->operand->view.rows, m->row_step, m->row_phase, &cuts);
    if (p->cols == 1)
        return true;
    for (int i = 0; i < cuts.n; i++)
        if (cuts.at[i] == p->r && cuts.at[i + 1] == p->r + p->rows)
            return true;
    return false;
}

/* --- tasks ------------------------------------------------------------------------------------------------------- */

static struct temporary {
    void *memory;
    size_t bytes;
    int device;
} temporaries[64];

static struct temporary *find_temporary(const void *memory)
{
    for (int i = 0; i < 64; i++) {
        struct temporary *t = &temporaries[i];

        if (t->memory && (const char *)memory >= (char *)t->memory &&
            (const char *)memory < (char *)t->memory + t->bytes)
            return t;
    }
    return NULL;
}

static void check_range(int64_t from, int64_t n, int64_t extent, int64_t step, int64_t phase)
{
    if (from < 0 || n < 1 || from + n > extent)
        error_("a piece outside of its operand");
    else if (tile_at(from, step, phase) != tile_at(from + n - 1, step, phase))
        error_("a piece crosses a cut");
}

static void check_piece(const struct sc_piece *p)
{
    const struct sc_matrix *m = p->operand->matrix;

    check_range(p->r, p->rows, m->rows, m->row_step, m->row_phase);
    check_range(p->c, p->cols, m->cols, m->col_step, m->col_phase);
    /* An output may be read after it has been written. */
    if ((p->access & SC_WRITE) && !(p->operand->view.access & SC_WRITE))
        error_("a piece of an input is written");
    if (p->access == SC_WRITE && !p->operand->view.vector &&
        (!sc_coherence_contiguous(0, p) || sc_coherence_next_sector(p->operand, p->c) != p->c ||
         (p->c + p->cols < m->cols && sc_coherence_next_sector(p->operand, p->c + p->cols) != p->c + p->cols)))
        fake.partial_writes++;
}

enum sc_status sc_coherence_prefetch(int device, const struct sc_piece *piece)
{
    need_lock("prefetch");
    if (device < 0 || device >= fake.devices)
        error_("prefetch to no device");
    check_piece(piece);
    fake.prefetches++;
    return SC_OK;
}

static char *host_element(const struct sc_piece *p, size_t elem, int64_t i, int64_t j);

/* Elements hold NaN until the tasks overwrite them. */
enum sc_status sc_coherence_claim(int device, const struct sc_piece *p, char uplo)
{
    size_t elem = sc_type_bytes(p->operand->view.type);

    need_lock("claim");
    if (device < 0 || device >= fake.devices)
        error_("a claim on no device");
    check_piece(p);
    for (int64_t j = 0; j < p->cols; j++)
        for (int64_t i = 0; i < p->rows; i++)
            if (uplo == 'A' || (uplo == 'L' ? p->r + i >= p->c + j : p->r + i <= p->c + j))
                memset(host_element(p, elem, i, j), 0xff, elem);
    return SC_OK;
}

void sc_coherence_keep_triangle(int device, const struct sc_piece *p)
{
    need_lock("keeping a triangle");
    if (device < 0 || device >= fake.devices)
        error_("a triangle on no device");
    check_piece(p);
}

void sc_coherence_triangle(struct sc_operand *o, char uplo)
{
    need_lock("a triangle");
    if (o->view.vector || o->view.rows != o->view.cols)
        error_("a triangle of no square");
    o->triangle = (struct sc_triangle){.uplo = uplo};
}

/* A task's copy of a piece; a temporary is not copied. */
struct local {
    const struct sc_piece *piece;
    char *memory;      /* NULL: not used */
    size_t elem;
    bool as_vector;    /* elements column by column, `step` apart; else columns ld apart */
    int64_t step, ld;
};

static char *host_element(const struct sc_piece *p, size_t elem, int64_t i, int64_t j)
{
    const struct sc_view *v = &p->operand->view;
    int64_t ld = sc_step(v->ld);
    int64_t offset = v->vector ? (p->r + i) * ld : (p->r + i) + (p->c + j) * ld;

    return (char *)(uintptr_t)v->ptr + (size_t)offset * elem;
}

static char *local_element(const struct local *l, int64_t i, int64_t j)
{
    int64_t offset = l->as_vector ? (i + j * l->piece->rows) * l->step : i + j * l->ld;

    return l->memory + (size_t)offset * l->elem;
}

/* Element (r, c) of the operand is in the triangle that its call has announced. */
static bool is_announced(const struct sc_operand *o, int64_t r, int64_t c)
{
    const struct sc_triangle *t = &o->triangle;

    return !t->uplo || (t->uplo == 'L' ? r - c >= t->diagonal : r - c <= t->diagonal);
}

/* The second triangle of a block on the diagonal is not copied: a kernel that reads NaN there shows. */
static void check_announced(const struct sc_piece *p)
{
    int64_t r = p->r + p->rows - 1, c = p->c + p->cols - 1;

    if (p->operand->triangle.uplo && !(p->rows == p->cols && p->r - p->c == p->operand->triangle.diagonal) &&
        !(is_announced(p->operand, p->r, c) && is_announced(p->operand, r, p->c)))
        error_("a piece beyond the announced triangle");
}

static void transfer(const struct local *l, bool in)
{
    for (int64_t j = 0; j < l->piece->cols; j++)
        for (int64_t i = 0; i < l->piece->rows; i++) {
            char *here = local_element(l, i, j), *there = host_element(l->piece, l->elem, i, j);

            if (is_announced(l->piece->operand, l->piece->r + i, l->piece->c + j))
                memcpy(in ? here : there, in ? there : here, l->elem);
        }
}

static void check_shape(const struct sc_kernel *k, int slot, const struct sc_piece *p, struct slot_shape s)
{
    int64_t ld = *slot_ld((struct sc_kernel *)(uintptr_t)k, slot);

    if (s.vector ? p->rows * p->cols != s.rows : p->rows != s.rows || p->cols != s.cols)
        error_("a piece of another size than the kernel's");
    if (s.vector && p->operand && p->operand->view.vector && (ld < 0) != (p->operand->view.ld < 0))
        error_("an increment of the wrong sign");
    if (s.vector && (!p->operand || !p->operand->view.vector) && ld < 0)
        error_("a negative increment where there is none");
    if (!s.vector && p->operand && p->operand->view.vector)
        error_("a vector for a matrix");
}

static void open_local(struct local *l, struct sc_kernel *k, int slot, int device, struct slot_shape s)
{
    const struct sc_piece *p = l->piece;

    if (!p->operand) {
        const struct temporary *t = find_temporary(p->temporary);

        if (!t || t->device != device ||
            (char *)p->temporary + (size_t)p->rows * l->elem > (char *)t->memory + t->bytes)
            error_("a temporary of another device or size");
        *slot_pointer(k, slot) = p->temporary;
        *slot_ld(k, slot) = p->temporary_ld;
        return;
    }
    check_piece(p);
    check_announced(p);
    if (s.vector && !p->operand->view.vector && !sc_coherence_contiguous(device, p))
        error_("a matrix piece that is no vector");
    l->as_vector = s.vector;
    l->step = slot_is_packed(k, slot) ? 1 : 2;
    l->ld = p->rows + 3;
    l->memory = malloc((size_t)(2 * (p->rows + 3) * p->cols) * l->elem);
    memset(l->memory, 0xff, (size_t)(2 * (p->rows + 3) * p->cols) * l->elem); /* NaN */
    if (p->access & SC_READ)
        transfer(l, true);
    *slot_pointer(k, slot) = l->memory;
    *slot_ld(k, slot) = s.vector ? (*slot_ld(k, slot) < 0 ? -l->step : l->step) : l->ld;
}

static void *next_result(void)
{
    static char ring[512][16] __attribute__((aligned(16)));
    static unsigned next;
    void *slot = ring[next++ % 512];

    memset(slot, 0xff, 16);
    return slot;
}

static bool task_fails(const struct sc_piece pieces[3])
{
    for (int i = 0; i < 3; i++)
        if (!pieces[i].operand && pieces[i].temporary)
            return fake.fail_task && ++task_tries % fake.fail_task == 0;
    return false;
}

static void run_task(int device, struct sc_kernel *kernel, const struct sc_piece pieces[3])
{
    struct local local[3];
    struct slot_shape shape;

    memset(local, 0, sizeof local);
    for (int i = 0; i < 3; i++) {
        local[i] = (struct local){.piece = &pieces[i], .elem = sc_type_bytes(kernel->type)};
        if (!pieces[i].operand && !pieces[i].temporary)
            continue;
        if (!slot_shape(kernel, i, &shape))
            error_("a piece in a slot that the operation does not have");
        check_shape(kernel, i, &pieces[i], shape);
        open_local(&local[i], kernel, i, device, shape);
    }
    if (sc_device_kernel_host(reference_symbol, kernel) != SC_OK)
        error_("the kernel cannot be run");
    for (int i = 0; i < 3; i++) {
        if (local[i].memory && (pieces[i].access & SC_WRITE))
            transfer(&local[i], false);
        free(local[i].memory);
    }
}

enum sc_status sc_coherence_task(int device, struct sc_kernel *kernel, const struct sc_piece pieces[3],
                                 struct sc_fence *fence, void **result)
{
    static uint64_t seq;

    need_lock("task");
    if (device < 0 || device >= fake.devices) {
        error_("a task on no device");
        return SC_ERR_DEVICE;
    }
    if (task_fails(pieces))
        return SC_ERR_DEVICE;
    fake.tasks++;
    fake.tasks_on[device]++;
    if (result)
        kernel->result = *result = next_result();
    if (fence)
        *fence = (struct sc_fence){++seq, (uint16_t)device, 0};
    run_task(device, kernel, pieces);
    return SC_OK;
}

enum sc_status sc_coherence_temporary(int device, size_t bytes, void **memory)
{
    need_lock("temporary");
    if (fake.fail_temporary && ++temporary_tries % fake.fail_temporary == 0)
        return SC_ERR_DEVICE_MEMORY;
    for (int i = 0; i < 64; i++)
        if (!temporaries[i].memory) {
            temporaries[i] = (struct temporary){malloc(bytes), bytes, device};
            *memory = memset(temporaries[i].memory, 0xff, bytes);
            fake.live_temporaries++;
            return SC_OK;
        }
    error_("too many temporaries");
    return SC_ERR_DEVICE_MEMORY;
}

void sc_coherence_temporary_free(int device, void *memory)
{
    struct temporary *t = find_temporary(memory);

    if (!t || t->device != device || t->memory != memory) {
        error_("free of no temporary");
        return;
    }
    free(memory);
    *t = (struct temporary){0};
    fake.live_temporaries--;
}

enum sc_status sc_coherence_temporary_send(int to, void *dst, int from, const void *src, size_t bytes,
                                           struct sc_fence *sent)
{
    *sent = SC_FENCE_NONE;
    return sc_coherence_temporary_copy(to, dst, from, src, bytes);
}

enum sc_status sc_coherence_temporary_wait(int device, struct sc_fence sent)
{
    (void)device, (void)sent;
    return SC_OK;
}

enum sc_status sc_coherence_temporary_copy(int to, void *dst, int from, const void *src, size_t bytes)
{
    const struct temporary *d = find_temporary(dst), *s = find_temporary(src);

    if (!d || !s || d->device != to || s->device != from || (char *)dst + bytes > (char *)d->memory + d->bytes ||
        (const char *)src + bytes > (char *)s->memory + s->bytes) {
        error_("copy of no temporary");
        return SC_ERR_DEVICE;
    }
    memcpy(dst, src, bytes);
    return SC_OK;
}

/* --- the rest ---------------------------------------------------------------------------------------------------- */

enum sc_status sc_coherence_wait(struct sc_fence fence)
{
    if (!fence.seq)
        error_("wait for no fence");
    return SC_OK;
}

/* Every task is done at once. */
enum sc_status sc_coherence_own_mark(int device, struct sc_fence *fence)
{
    need_lock("a mark");
    *fence = (struct sc_fence){.device = device, .seq = 1};
    return SC_OK;
}

bool sc_coherence_reached(struct sc_fence fence) { return (void)fence, true; }
void sc_coherence_wait_any(const struct sc_fence *fences, int count) { (void)fences, (void)count; }

bool sc_coherence_find(const struct sc_view *view, struct sc_operand *operand)
{
    (void)view, (void)operand;
    return false;
}

enum sc_status sc_coherence_device_task(int device, struct sc_kernel *kernel, const struct sc_piece pieces[3],
                                        struct sc_fence *fence, void **result)
{
    return sc_coherence_task(device, kernel, pieces, fence, result);
}

bool sc_coherence_on_host(const struct sc_operand *operand, const struct sc_view *part)
{
    (void)operand, (void)part;
    return fake.host_has;
}

/* A matrix of its own for the part, which has the whole's cuts. */
void sc_coherence_part(const struct sc_operand *operand, int64_t r, int64_t c, int64_t rows, int64_t cols,
                       struct sc_operand *part)
{
    static struct sc_matrix of_parts[16];
    static int count;
    struct sc_matrix *m = &of_parts[count++ % 16];
    const struct sc_view *v = &operand->view;

    need_lock("a part");
    if (r < 0 || c < 0 || rows < 1 || cols < 1 || r + rows > v->rows || c + cols > v->cols)
        error_("a part beyond its operand");
    *m = *operand->matrix;
    m->row_phase = (m->row_phase + r) % m->row_step;
    m->col_phase = (m->col_phase + c) % m->col_step;
    m->rows = rows;
    m->cols = cols;
    *part = *operand;
    part->triangle.diagonal += c - r;
    part->matrix = m;
    part->view.ptr = (const char *)v->ptr + (r + c * v->ld) * (int64_t)sc_type_bytes(v->type);
    part->view.rows = part->rows = rows;
    part->view.cols = part->cols = cols;
}

enum sc_status sc_coherence_host_task(const struct sc_kernel *kernel, const struct sc_view *views, int count)
{
    (void)views, (void)count;
    need_lock("a task of the host");
    fake.host_columns += kernel->n;
    return sc_device_kernel_host(reference_symbol, kernel);
}

/* The caller reads the diagonal by a task of the host. */
enum sc_status sc_coherence_diagonal(int device, const struct sc_piece *piece, void *diagonal, struct sc_fence *fence)
{
    (void)device, (void)piece, (void)diagonal;
    *fence = SC_FENCE_NONE;
    return SC_ERR_UNSUPPORTED;
}
enum sc_status sc_coherence_pin(const void *ptr) { return (void)ptr, SC_OK; }
bool sc_coherence_stack_fits(void) { return true; }
void *sc_coherence_host_alloc(size_t bytes) { return malloc(bytes); }
bool sc_coherence_host_free(void *memory) { return free(memory), true; }
bool sc_coherence_runs(enum sc_op op, enum sc_type type) { return (void)op, (void)type, fake.devices > 0; }
int sc_coherence_devices(void)
{
    return fake.devices;
}

double sc_coherence_peer_ratio(void) { return 1; }
double sc_coherence_virtual_seconds(void) { return 0; }
void sc_coherence_results_begin(void) {}
void sc_coherence_results_end(void) {}
double sc_coherence_host_clock(void) { return 0; }
void sc_coherence_release_range(uintptr_t addr, size_t bytes) { (void)addr, (void)bytes; }
void sc_coherence_drain(void) { }
void sc_coherence_on_completion(void (*done)(void *of), void *of) { (void)done, (void)of; }

const struct sc_device_properties *sc_coherence_device_properties(int device)
{
    static const struct sc_device_properties p = {.memory = UINT64_C(1) << 40, .gemm_flops = 50e12,
                                                  .memory_bandwidth = 4e12, .host_bandwidth = 50e9};

    (void)device;
    return &p;
}

void sc_coherence_push(const struct sc_operand *operands, int count, const struct sc_producer *producer)
{
    (void)operands, (void)count, (void)producer;
}
bool sc_coherence_goes_home(const struct sc_operand *result) { return (void)result, fake.goes_home; }
void sc_coherence_send_home(const struct sc_operand *result) { (void)result; }
enum sc_at_home sc_coherence_at_home(const void *ptr, uint64_t bytes, enum sc_access access, uintptr_t *base,
                                     size_t *block_bytes)
{
    return (void)ptr, (void)bytes, (void)access, (void)base, (void)block_bytes, SC_NOT_HOME;
}
bool sc_coherence_is_home(const void *ptr, uint64_t bytes) { return (void)ptr, (void)bytes, false; }

void sc_coherence_exchanges(const struct sc_exchange_rates *rates) { (void)rates; }
void sc_coherence_links(const struct sc_links *measured) { (void)measured; }

void sc_coherence_acquire_view(const struct sc_view *view) { (void)view; }
void sc_coherence_fetched(const struct sc_view *views, int count, struct sc_fetched *out)
{
    (void)views, (void)count;
    *out = (struct sc_fetched){0};
}

void sc_coherence_residency(const struct sc_view *views, int count, struct sc_residency *out)
{
    *out = (struct sc_residency){0};
    for (int i = 0; i < count; i++)
        out->bytes += (uint64_t)views[i].rows * (uint64_t)views[i].cols * sc_type_bytes(views[i].type);
}

/* Writes are not noted, so no result of a reduction is recalled. */
uint64_t sc_coherence_derive(const struct sc_operand *vector)
{
    (void)vector;
    return 0;
}

bool sc_coherence_changed(const struct sc_operand *vector, int64_t first, int64_t n, uint64_t since)
{
    (void)vector, (void)first, (void)n, (void)since;
    return true;
}
/* SPDX-License-Identifier: BSD-2-Clause */
