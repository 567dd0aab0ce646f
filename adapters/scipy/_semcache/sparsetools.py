"""scipy.sparse._sparsetools, for programs that call its functions by name: y := A x + y."""
import functools
import types

import numpy as np

from . import library

originals = types.SimpleNamespace()  # the module without the patch, for the methods of matrices.py


def offered(form, columns, arguments):
    """Whether the devices compute a call such as csr_matvec(M, N, indptr, indices, data, x, y)."""
    rows, cols, start, index, values, x, y = arguments
    if not (library.is_dense(x) and library.is_dense(y) and y.flags.writeable and values.dtype == x.dtype == y.dtype):
        return False
    if x.size != cols * columns or y.size != rows * columns or np.may_share_memory(x, y):
        return False
    return library.product(library.describe(form, (rows, cols), start, index, values), b"N", columns, x, library.ONE, y)


def matvec(form, original):
    @functools.wraps(original)
    def multiply(rows, cols, start, index, values, x, y):
        if len(values) < library.LEAST_ENTRIES or not offered(form, 1, (rows, cols, start, index, values, x, y)):
            original(rows, cols, start, index, values, x, y)

    return multiply


def matvecs(form, original):
    @functools.wraps(original)
    def multiply(rows, cols, columns, start, index, values, x, y):
        if len(values) < library.LEAST_ENTRIES or not offered(form, columns, (rows, cols, start, index, values, x, y)):
            original(rows, cols, columns, start, index, values, x, y)

    return multiply


def patch(module):
    originals.__dict__.update(vars(module))
    for form, prefix in (library.CSR, "csr"), (library.CSC, "csc"):
        for suffix, wrapper in ("_matvec", matvec), ("_matvecs", matvecs):
            setattr(module, prefix + suffix, wrapper(form, getattr(module, prefix + suffix)))
# SPDX-License-Identifier: BSD-2-Clause
