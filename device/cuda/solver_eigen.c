/* Eigenvalues through cuSOLVER.  All routines work on copies: LAPACK destroys A, and the device leaves A as it was,
 * except for the eigenvectors of symmetric matrices. */
#include "device/cuda/solver.h"

static cusolverEigMode_t mode(char job) { return job == 'V' ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR; }

/* --- symmetric matrices ------------------------------------------------------------------------------------------- */

/* A range of eigenvalues for Xsyevdx, which counts the values of the range. */
struct range {
    cusolverEigRange_t kind;
    union sc_cuda_scalar above, most;
    int64_t first, last, found;
};

static struct range range_of(const struct sc_kernel *k)
{
    struct range r = {.kind = k->range == 'I' ? CUSOLVER_EIG_RANGE_I : CUSOLVER_EIG_RANGE_V, .first = k->first,
                      .last = k->first + k->k - 1};
    enum sc_type real = k->type == SC_S || k->type == SC_C ? SC_S : SC_D;
    const double above[2] = {k->alpha[0], 0}, most[2] = {k->alpha[1], 0};

    r.above = sc_cuda_scalar_of(real, above);
    r.most = sc_cuda_scalar_of(real, most);
    return r;
}

static bool has_range(const struct sc_kernel *k) { return k->range == 'I' || k->range == 'V'; }

static cusolverStatus_t syevd_size(struct sc_cuda_solve *s, struct range *r)
{
    const struct sc_kernel *k = s->k;

    return has_range(k)
               ? s->f->Xsyevdx_bufferSize(s->handle, s->params, mode(k->job[0]), r->kind, s->fill, k->n, s->type, k->a,
                                          k->n, &r->above, &r->most, r->first, r->last, &r->found, s->real, k->a,
                                          s->type, SC_CUDA_SIZES(s))
               : s->f->Xsyevd_bufferSize(s->handle, s->params, mode(k->job[0]), s->fill, k->n, s->type, k->a, k->n,
                                         s->real, k->a, s->type, SC_CUDA_SIZES(s));
}

static cusolverStatus_t syevd(struct sc_cuda_solve *s, struct range *r)
{
    const struct sc_kernel *k = s->k;
    char *a = s->at[SC_CUDA_COPY], *w = s->at[SC_CUDA_SMALL];

    return has_range(k)
               ? s->f->Xsyevdx(s->handle, s->params, mode(k->job[0]), r->kind, s->fill, k->n, s->type, a, k->n,
                               &r->above, &r->most, r->first, r->last, &r->found, s->real, w, s->type,
                               SC_CUDA_WORKSPACE(s), sc_cuda_solve_info(s))
               : s->f->Xsyevd(s->handle, s->params, mode(k->job[0]), s->fill, k->n, s->type, a, k->n, s->real, w,
                              s->type, SC_CUDA_WORKSPACE(s), sc_cuda_solve_info(s));
}

/* All values are checked in a range, too: cuSOLVER has their number at the end of its work only. */
enum sc_status sc_cuda_syevd(struct sc_cuda_solve *s)
{
    const struct sc_kernel *k = s->k;
    struct range r = range_of(k);
    enum sc_status status = sc_cuda_solve_refused(s, syevd_size(s, &r));

    s->bytes[SC_CUDA_SMALL] = (size_t)k->n * s->real_bytes;
    r.found = has_range(k) ? -1 : k->n;
    if (status == SC_OK)
        status = sc_cuda_solve_on_copy(s, k->n, k->n);
    if (status == SC_OK)
        status = SC_CUDA(cudaMemsetAsync(s->at[SC_CUDA_SMALL], 0, s->bytes[SC_CUDA_SMALL], s->c->queue->stream));
    if (status == SC_OK)
        status = sc_cuda_solve_refused(s, syevd(s, &r));
    if (status == SC_OK)
        status = sc_cuda_solve_values(s, k->small[0], 0, k->n);
    if (status == SC_OK)
        status = sc_cuda_solve_check(s, k->small[0], k->n);
    if (status == SC_OK && (r.found < 0 || r.found > k->n))
        return SC_ERR_UNSUPPORTED;
    if (status == SC_OK && has_range(k))
        k->pivots[0] = r.found;
    return status == SC_OK && k->job[0] == 'V' ? sc_cuda_solve_copy(s, k->a, k->lda, s->at[SC_CUDA_COPY], k->n, k->n,
                                                                    r.found)
                                               : status;
}

static enum sc_status begin_sygvd(struct sc_cuda_solve *s)
{
    const struct sc_kernel *k = s->k;
    int n = (int)k->n, size = 0;
    cusolverStatus_t error = s->f->sygvd_size[k->type](s->handle, (cusolverEigType_t)k->kl, mode(k->job[0]), s->fill, n,
                                                       k->a, n, k->b, n, k->a, &size);
    enum sc_status status = sc_cuda_solve_elements(s, error, size);

    s->bytes[SC_CUDA_SMALL] = (size_t)n * s->real_bytes;
    s->bytes[SC_CUDA_SECOND] = (size_t)n * (size_t)n * s->element;
    s->bytes[SC_CUDA_PACKED] = (size_t)n * (size_t)(n + 1) / 2 * s->element;
    return status == SC_OK ? sc_cuda_solve_on_copy(s, n, n) : status;
}

enum sc_status sc_cuda_sygvd(struct sc_cuda_solve *s)
{
    const struct sc_kernel *k = s->k;
    int n = (int)k->n;
    enum sc_status status = begin_sygvd(s);
    char *a = s->at[SC_CUDA_COPY], *b = s->at[SC_CUDA_SECOND];

    if (status == SC_OK)
        status = sc_cuda_solve_copy(s, b, n, k->b, k->ldb, n, n);
    if (status == SC_OK)
        status = sc_cuda_solve_refused(s, s->f->sygvd[k->type](s->handle, (cusolverEigType_t)k->kl, mode(k->job[0]),
                                                               s->fill, n, a, n, b, n, s->at[SC_CUDA_SMALL],
                                                               s->at[SC_CUDA_WORK], sc_cuda_solve_size(s),
                                                               sc_cuda_solve_info(s)));
    if (status == SC_OK)
        status = sc_cuda_solve_values(s, k->small[0], 0, n);
    if (status == SC_OK)
        status = sc_cuda_solve_check(s, k->small[0], n);
    if (status == SC_OK)
        status = sc_cuda_solve_triangle(s, k->b, k->ldb, b, n, n);
    return status == SC_OK && k->job[0] == 'V' ? sc_cuda_solve_copy(s, k->a, k->lda, a, n, n, n) : status;
}

/* --- general matrices --------------------------------------------------------------------------------------------- */

/* Real types: real parts, then imaginary parts. */
static enum sc_status eigenvalues_down(struct sc_cuda_solve *s)
{
    const struct sc_kernel *k = s->k;
    enum sc_status status;

    if (sc_type_is_complex(k->type)) {
        status = sc_cuda_solve_values(s, k->small[0], 0, 2 * k->n);
        return status == SC_OK ? sc_cuda_solve_check(s, k->small[0], 2 * k->n) : status;
    }
    status = sc_cuda_solve_values(s, k->small[0], 0, k->n);
    if (status == SC_OK)
        status = sc_cuda_solve_values(s, k->small[1], k->n, k->n);
    return status == SC_OK ? sc_cuda_solve_check(s, k->small[0], k->n) : status;
}

/* Left eigenvectors are not supported by cuSOLVER. */
enum sc_status sc_cuda_geev(struct sc_cuda_solve *s)
{
    const struct sc_kernel *k = s->k;
    const cusolverEigMode_t left = CUSOLVER_EIG_MODE_NOVECTOR, right = mode(k->job[1]);
    void *v = k->job[1] == 'V' ? k->c : NULL;
    int64_t ldv = k->job[1] == 'V' ? k->ldc : k->n;
    enum sc_status status;
    char *a;

    if (k->job[0] == 'V')
        return SC_ERR_UNSUPPORTED;
    status = sc_cuda_solve_refused(s, s->f->Xgeev_bufferSize(s->handle, s->params, left, right, k->n, s->type, k->a,
                                                             k->n, s->type, k->a, s->type, NULL, k->n, s->type, v, ldv,
                                                             s->type, SC_CUDA_SIZES(s)));
    s->bytes[SC_CUDA_SMALL] = 2 * (size_t)k->n * s->real_bytes;
    if (status == SC_OK)
        status = sc_cuda_solve_on_copy(s, k->n, k->n);
    a = s->at[SC_CUDA_COPY];
    if (status == SC_OK)
        status = sc_cuda_solve_finite(s, k->n * k->n);
    if (status == SC_OK)
        status = sc_cuda_solve_refused(s, s->f->Xgeev(s->handle, s->params, left, right, k->n, s->type, a, k->n,
                                                      s->type, s->at[SC_CUDA_SMALL], s->type, NULL, k->n, s->type, v,
                                                      ldv, s->type, SC_CUDA_WORKSPACE(s), sc_cuda_solve_info(s)));
    return status == SC_OK ? eigenvalues_down(s) : status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
