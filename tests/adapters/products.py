"""Products of SciPy's sparse matrices in all formats and types, compared with a dense matrix. Prints the failures."""
import itertools

import numpy as np
import scipy.sparse as sparse

rng = np.random.default_rng(1)
count = 0
for form, kind, rows, cols in itertools.product(("csr", "csc", "bsr", "dia", "coo"), "fdFD", (60, 96), (60, 72)):
    a = sparse.random(rows, cols, 0.2, "csr", random_state=7).astype(kind)
    if kind in "FD":
        a = a * (1 - 2j)
    dense = a.toarray().astype(kind)
    a = a.tobsr((6, 6)) if form == "bsr" and rows != 96 else a.asformat(form).astype(kind)
    x = (rng.standard_normal(cols) + (1j * rng.standard_normal(cols) if kind in "FD" else 0)).astype(kind)
    many = np.ascontiguousarray(np.stack([x, 2 * x, x - 1], axis=1))
    left = np.resize(x, rows)
    bound = (1e-4 if kind in "fF" else 1e-12) * np.abs(dense).sum() * np.abs(x).max()
    for name, mine, known in (("A x", a @ x, dense @ x), ("A X", a @ many, dense @ many),
                              ("A^T x", a.T @ left, dense.T @ left), ("x^T A", left @ a, left @ dense),
                              ("A^H x", a.conj().T @ left, dense.conj().T @ left),
                              ("A x[::-1]", a @ x[::-1], dense @ x[::-1]), ("A X^T", a @ many.T.copy().T, dense @ many),
                              ("A x, twice", a @ x + a @ x, 2 * dense @ x)):
        count += 1
        if mine.dtype != known.dtype or mine.shape != known.shape or not np.abs(mine - known).max() <= bound:
            print(form, kind, rows, cols, name, "is wrong")
    if form in ("csr", "csc"):
        from scipy.sparse import _sparsetools

        y = np.resize(left, rows).copy()
        known = y + dense @ x
        getattr(_sparsetools, form + "_matvec")(rows, cols, a.indptr, a.indices, a.data, x, y)
        count += 1
        if not np.abs(y - known).max() <= bound:
            print(form, kind, rows, cols, "matvec is wrong")
        a.data[3] *= 2  # a changed value
        if not np.abs(a @ x - a.toarray() @ x).max() <= bound:
            print(form, kind, rows, cols, "after a change is wrong")
print(count, "products")
# SPDX-License-Identifier: BSD-2-Clause
