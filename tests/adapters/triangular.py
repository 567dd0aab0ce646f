"""Triangular solves of SciPy: all forms against dense solves, or a chain of STEPS solves.

triangular.py [STEPS]
"""
import itertools
import sys
import warnings

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import spsolve_triangular

warnings.simplefilter("ignore")  # the form of the matrix is not efficient
random = np.random.RandomState(3)
n = 300


def forms():
    count = 0
    for lower, form, kind, unit, overwrite, shape in itertools.product(
            (True, False), ("csr", "csc", "coo"), "dfD", (False, True), (False, True), ((n,), (n, 1), (n, 3))):
        a = scipy.sparse.random(n, n, 0.1, random_state=random) + 3 * scipy.sparse.eye(n)
        triangle = (scipy.sparse.tril if lower else scipy.sparse.triu)(a).asformat(form).astype(kind)
        dense = triangle.toarray().astype("D")
        if unit:
            np.fill_diagonal(dense, 1)
        b = (random.rand(*shape) + 1).astype(kind)
        given = b.copy()
        x = spsolve_triangular(triangle, given, lower=lower, overwrite_b=overwrite, unit_diagonal=unit)
        exact = np.linalg.solve(dense, b.astype("D"))
        assert x.shape == b.shape and (overwrite or (given == b).all())
        assert abs(x - exact).max() <= (1e-3 if kind == "f" else 1e-8) * abs(exact).max()
        count += 1
    print(count, "solves")


def complaint(matrix):
    """The error of a solve with a matrix that is singular, or of another shape than b."""
    try:
        spsolve_triangular(matrix, np.ones(n))
        print("no error")
    except Exception as error:
        print(type(error).__name__)


if len(sys.argv) > 1:
    x = np.ones(4096)
    matrix = scipy.sparse.diags([np.full(4095, -1.0), np.full(4096, 2.5)], [-1, 0]).tocsr()
    for _ in range(int(sys.argv[1])):
        x = spsolve_triangular(matrix, x)
    print(x[:2])
else:
    forms()
    complaint(scipy.sparse.diags([np.arange(n) - 5.0], [0]).tocsr())
    complaint(scipy.sparse.eye(n + 1).tocsr())
# SPDX-License-Identifier: BSD-2-Clause
