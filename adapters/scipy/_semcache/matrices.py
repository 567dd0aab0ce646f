"""Products of scipy.sparse's matrices with dense vectors and matrices.

SciPy's methods clear the result and add the product. The methods here let a device write a result that nobody cleared.
"""
import numpy as np

from . import library, sparsetools


def compressed(matrix):
    form = library.CSR if matrix.format == "csr" else library.CSC
    return library.describe(form, matrix.shape, matrix.indptr, matrix.indices, matrix.data), b"N"


def bsr(matrix):
    block = matrix.data.shape[1:]
    if block[0] != block[1]:
        return None, b"N"
    return library.describe(library.BSR, matrix.shape, matrix.indptr, matrix.indices, matrix.data, block=block[0]), b"N"


def dia(matrix):
    """SciPy stores element (j - offset, j) at data[d, j]: by columns. The transposed matrix is stored by rows."""
    negated = matrix.__dict__.get("_semcache_offsets")
    if negated is None or negated.dtype != matrix.offsets.dtype or not np.array_equal(negated, -matrix.offsets):
        negated = matrix.__dict__["_semcache_offsets"] = -matrix.offsets
    diagonals, length = matrix.data.shape
    if length < matrix.shape[1]:
        return None, b"T"
    return library.describe(library.DIA, matrix.shape[::-1], None, negated, matrix.data, diagonals=diagonals,
                            ld=length), b"T"


def offered(describe, matrix, other, columns):
    """The product, or None if the devices decline it."""
    data = matrix.data
    if len(matrix.shape) != 2 or not library.is_dense(other) or data.dtype != other.dtype:
        return None
    arrays, op = describe(matrix)
    result = np.empty(matrix.shape[:1] + other.shape[1:], dtype=data.dtype)
    return result if library.product(arrays, op, columns, other, library.ZERO, result) else None


def method(describe, original):
    """The method `original` of a class of matrices, offered to the devices first."""

    def multiply(self, other, least=library.LEAST_ENTRIES):
        if self.data.size + self.shape[0] < least:  # the host clears a row, and adds an entry, in the same time
            return original(self, other)
        result = offered(describe, self, other, 1 if other.ndim == 1 else other.shape[1])
        return original(self, other) if result is None else result

    multiply.__name__, multiply.__qualname__ = original.__name__, original.__qualname__
    multiply.__doc__, multiply.__module__ = original.__doc__, original.__module__
    return multiply


CLASSES = {"_compressed": (compressed, "_cs_matrix"), "_bsr": (bsr, "_bsr_base", "bsr_matrix"),
           "_dia": (dia, "_dia_base", "dia_matrix")}
METHODS = "_matmul_vector", "_mul_vector", "_matmul_multivector", "_mul_multivector"


def patch(module):
    describe, *names = CLASSES[module.__name__.rpartition(".")[2]]
    if hasattr(module, "_sparsetools") and vars(sparsetools.originals):
        module._sparsetools = sparsetools.originals  # a declined product is not offered twice
    for name in names:
        owner = module.__dict__.get(name)
        for kind in METHODS:
            if kind in vars(owner or object):
                setattr(owner, kind, method(describe, vars(owner)[kind]))
# SPDX-License-Identifier: BSD-2-Clause
