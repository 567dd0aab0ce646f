/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of batch.c in one type and one width of integers.  FORTRAN, CBLAS: names; WIDE: 64-bit integers.  All
 * three are undefined at the end.  By value, an integer is a whole register (generate.awk). */

/* --- ?gemm_batch -------------------------------------------------------------------------------------------------- */

typedef void FORTRAN(own_gemm_batch)(const char *, const char *, const void *, const void *, const void *, const void *,
                                     const void *, const void *, const void *, const void *, const void *, const void *,
                                     const void *, const void *, const void *, size_t, size_t);
VISIBLE void FORTRAN(gemm_batch)(const char *transa, const char *transb, const void *m, const void *n, const void *k,
                                 const void *alpha, const void *a, const void *lda, const void *b, const void *ldb,
                                 const void *beta, const void *c, const void *ldc, const void *count, const void *size);
void FORTRAN(gemm_batch)(const char *transa, const char *transb, const void *m, const void *n, const void *k,
                         const void *alpha, const void *a, const void *lda, const void *b, const void *ldb,
                         const void *beta, const void *c, const void *ldc, const void *count, const void *size)
{
    const struct routine r = {TEXT(LETTER) "gemm_batch", TYPE, TYPE, false, WIDE, false, SC_BLAS_FORTRAN};
    const struct grouped g = {transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, size};
    sc_blas_fn fn;
    bool enter;

    sc_blas_called_from(__builtin_return_address(0));
    fn = serve_groups(&r, TEXT(FORTRAN(gemm_batch)), integer(&r, count, 0), &g, &enter);
    if (!fn)
        return;
    begin_own(&r, enter);
    ((FORTRAN(own_gemm_batch) *)fn)(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, count, size, 1, 1);
    end_own(enter);
}

typedef void CBLAS(own_gemm_batch)(int, const int *, const int *, const void *, const void *, const void *,
                                   const void *, const void *, const void *, const void *, const void *, const void *,
                                   const void *, const void *, int64_t, const void *);
VISIBLE void CBLAS(gemm_batch)(int order, const int *transa, const int *transb, const void *m, const void *n,
                               const void *k, const void *alpha, const void *a, const void *lda, const void *b,
                               const void *ldb, const void *beta, const void *c, const void *ldc, int64_t count,
                               const void *size);
void CBLAS(gemm_batch)(int order, const int *transa, const int *transb, const void *m, const void *n, const void *k,
                       const void *alpha, const void *a, const void *lda, const void *b, const void *ldb,
                       const void *beta, const void *c, const void *ldc, int64_t count, const void *size)
{
    const struct routine r = {TEXT(LETTER) "gemm_batch", TYPE, TYPE, true, WIDE, false, sc_cblas_order(order)};
    const struct grouped g = {transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, size};
    sc_blas_fn fn;
    bool enter;

    sc_blas_called_from(__builtin_return_address(0));
    fn = serve_groups(&r, TEXT(CBLAS(gemm_batch)), WIDE ? count : sc_blas_int_of(count), &g, &enter);
    if (!fn)
        return;
    begin_own(&r, enter);
    ((CBLAS(own_gemm_batch) *)fn)(order, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, count, size);
    end_own(enter);
}

/* --- ?gemm_batch_strided ------------------------------------------------------------------------------------------ */

typedef void FORTRAN(own_gemm_batch_strided)(const char *, const char *, const void *, const void *, const void *,
                                             const void *, void *, const void *, const void *, void *, const void *,
                                             const void *, const void *, void *, const void *, const void *,
                                             const void *, size_t, size_t);
VISIBLE void FORTRAN(gemm_batch_strided)(const char *transa, const char *transb, const void *m, const void *n,
                                         const void *k, const void *alpha, void *a, const void *lda,
                                         const void *stridea, void *b, const void *ldb, const void *strideb,
                                         const void *beta, void *c, const void *ldc, const void *stridec,
                                         const void *count);
void FORTRAN(gemm_batch_strided)(const char *transa, const char *transb, const void *m, const void *n, const void *k,
                                 const void *alpha, void *a, const void *lda, const void *stridea, void *b,
                                 const void *ldb, const void *strideb, const void *beta, void *c, const void *ldc,
                                 const void *stridec, const void *count)
{
    const struct routine r = {TEXT(LETTER) "gemm_batch_strided", SC_TYPES + TYPE, TYPE, false, WIDE, true,
                              SC_BLAS_FORTRAN};
    const struct group g = {
        .type = TYPE, .transa = sc_blas_letter(*transa), .transb = sc_blas_letter(*transb), .m = integer(&r, m, 0),
        .n = integer(&r, n, 0), .k = integer(&r, k, 0), .count = integer(&r, count, 0), .alpha = alpha, .beta = beta,
        .a = {.first = a, .stride = integer(&r, stridea, 0), .ld = integer(&r, lda, 0)},
        .b = {.first = b, .stride = integer(&r, strideb, 0), .ld = integer(&r, ldb, 0)},
        .c = {.first = c, .stride = integer(&r, stridec, 0), .ld = integer(&r, ldc, 0)}};
    sc_blas_fn fn;
    bool enter;

    sc_blas_called_from(__builtin_return_address(0));
    fn = serve_strided(&r, TEXT(FORTRAN(gemm_batch_strided)), &g, &enter);
    if (!fn)
        return;
    begin_own(&r, enter);
    ((FORTRAN(own_gemm_batch_strided) *)fn)(transa, transb, m, n, k, alpha, a, lda, stridea, b, ldb, strideb, beta, c,
                                            ldc, stridec, count, 1, 1);
    end_own(enter);
}

typedef void CBLAS(own_gemm_batch_strided)(int, int, int, int64_t, int64_t, int64_t, SCALAR, void *, int64_t, int64_t,
                                           void *, int64_t, int64_t, SCALAR, void *, int64_t, int64_t, int64_t);
VISIBLE void CBLAS(gemm_batch_strided)(int order, int transa, int transb, int64_t m, int64_t n, int64_t k, SCALAR alpha,
                                       void *a, int64_t lda, int64_t stridea, void *b, int64_t ldb, int64_t strideb,
                                       SCALAR beta, void *c, int64_t ldc, int64_t stridec, int64_t count);
void CBLAS(gemm_batch_strided)(int order, int transa, int transb, int64_t m, int64_t n, int64_t k, SCALAR alpha,
                               void *a, int64_t lda, int64_t stridea, void *b, int64_t ldb, int64_t strideb,
                               SCALAR beta, void *c, int64_t ldc, int64_t stridec, int64_t count)
{
    const struct routine r = {TEXT(LETTER) "gemm_batch_strided", SC_TYPES + TYPE, TYPE, true, WIDE, true,
                              sc_cblas_order(order)};
    const struct group g = {
        .type = TYPE, .transa = sc_cblas_trans(transa), .transb = sc_cblas_trans(transb), .m = VALUE(m), .n = VALUE(n),
        .k = VALUE(k), .count = VALUE(count), .alpha = ADDRESS(alpha), .beta = ADDRESS(beta),
        .a = {.first = a, .stride = VALUE(stridea), .ld = VALUE(lda)},
        .b = {.first = b, .stride = VALUE(strideb), .ld = VALUE(ldb)},
        .c = {.first = c, .stride = VALUE(stridec), .ld = VALUE(ldc)}};
    sc_blas_fn fn;
    bool enter;

    sc_blas_called_from(__builtin_return_address(0));
    fn = serve_strided(&r, TEXT(CBLAS(gemm_batch_strided)), &g, &enter);
    if (!fn)
        return;
    begin_own(&r, enter);
    ((CBLAS(own_gemm_batch_strided) *)fn)(order, transa, transb, m, n, k, alpha, a, lda, stridea, b, ldb, strideb, beta,
                                          c, ldc, stridec, count);
    end_own(enter);
}

#undef WIDE
#undef FORTRAN
#undef CBLAS
