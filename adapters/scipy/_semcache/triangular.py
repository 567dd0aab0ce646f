"""scipy.sparse.linalg.spsolve_triangular: solves with a triangular matrix, offered to the devices first."""
import functools

import numpy as np

from . import library, matrices


def is_triangular(matrix, lower, unit):
    """Whether SciPy would solve with the matrix without a complaint. Asks for sorted lines, each with its diagonal."""
    ends = matrix.indptr[1:] - 1 if lower == (matrix.format == "csr") else matrix.indptr[:-1]
    lines = np.arange(len(ends), dtype=matrix.indices.dtype)
    return matrix.has_canonical_format and bool(np.all(matrix.indptr[1:] > matrix.indptr[:-1])) and \
        np.array_equal(matrix.indices[ends], lines) and (unit or bool(np.all(matrix.data[ends])))


def solved(matrix, b, lower, overwrite_b, unit):
    """The solution, or None if the devices decline, or if the arguments are for SciPy."""
    if getattr(matrix, "format", None) not in ("csr", "csc") or matrix.data.size < library.LEAST_ENTRIES or \
            not library.is_dense(b) or b.dtype != matrix.data.dtype or b.dtype.char not in "dD":
        return None
    if b.shape not in ((b.size,), (b.size, 1)) or matrix.shape != (b.size, b.size) or \
            not is_triangular(matrix, lower, unit):
        return None
    arrays, _ = matrices.compressed(matrix)
    result = b if overwrite_b and b.flags.writeable else np.empty_like(b)
    return result if library.solve(arrays, b"L" if lower else b"U", unit, b, result) else None


def patch(module):
    original = module.spsolve_triangular

    @functools.wraps(original)
    def spsolve_triangular(A, b, lower=True, overwrite_A=False, overwrite_b=False, unit_diagonal=False):
        result = solved(A, b, bool(lower), overwrite_b, bool(unit_diagonal))
        return original(A, b, lower, overwrite_A, overwrite_b, unit_diagonal) if result is None else result

    module.spsolve_triangular = spsolve_triangular
# SPDX-License-Identifier: BSD-2-Clause
