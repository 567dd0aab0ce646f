"""The functions of libsemcache for libraries with loops of their own (semcache.h), on arrays of NumPy."""
import ctypes
import os
import sys

import numpy as np

TYPES = {np.dtype(char): number for number, char in enumerate("fdFD")}
REAL = {np.dtype("F"): np.dtype("f"), np.dtype("D"): np.dtype("d")}
INTEGERS = {np.dtype("i4"): 4, np.dtype("i8"): 8}
CSR, CSC, BSR, DIA = range(4)

# Smaller arrays are not offered: asking would take more than a twentieth of the time of the work.
LEAST_ENTRIES = int(os.environ.get("SEMCACHE_TEST_ADAPTER_LEAST", 200000))
LEAST_ELEMENTS = int(os.environ.get("SEMCACHE_TEST_ADAPTER_LEAST", 65536))

Scalar = ctypes.c_double * 2
ONE, ZERO = Scalar(1, 0), Scalar(0, 0)


class Arrays(ctypes.Structure):
    """struct semcache_sparse_arrays"""

    _fields_ = [("size", ctypes.c_size_t), ("format", ctypes.c_int), ("type", ctypes.c_int),
                ("index_bytes", ctypes.c_int), ("base", ctypes.c_int), ("rows", ctypes.c_int64),
                ("cols", ctypes.c_int64), ("start", ctypes.c_void_p), ("index", ctypes.c_void_p),
                ("values", ctypes.c_void_p), ("block", ctypes.c_int64), ("diagonals", ctypes.c_int64),
                ("ld", ctypes.c_int64)]


class Product(ctypes.Structure):
    """struct semcache_product"""

    _fields_ = [("size", ctypes.c_size_t), ("type", ctypes.c_int), ("op_a", ctypes.c_char), ("op_b", ctypes.c_char),
                *((name, ctypes.c_int64) for name in "mnk"), ("alpha", Scalar), ("beta", Scalar),
                *((name, ctypes.c_void_p) for name in "abc"), *(("ld" + name, ctypes.c_int64) for name in "abc")]


_process = ctypes.CDLL(None)
_axpby = _sparse = None
if hasattr(_process, "semcache_try_product"):
    _axpby, _sparse = _process.semcache_try_axpby, _process.semcache_try_sparse
    _largest, _product = _process.semcache_try_largest, _process.semcache_try_product
    _largest.argtypes = [ctypes.c_int64, ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_double)]
    _product.argtypes = [ctypes.c_void_p]
    _axpby.argtypes = [ctypes.c_int64, ctypes.c_int, Scalar, ctypes.c_void_p, Scalar, ctypes.c_void_p,
                       ctypes.c_void_p]
    _solve = _process.semcache_try_solve
    _solve.argtypes = [ctypes.c_void_p, ctypes.c_char, ctypes.c_char, ctypes.c_int, Scalar, ctypes.c_void_p,
                       ctypes.c_void_p]
    _devices = _process.semcache_device_count
    _sparse.argtypes = [ctypes.c_void_p, ctypes.c_char, ctypes.c_int64, Scalar, ctypes.c_void_p, ctypes.c_int64,
                        Scalar, ctypes.c_void_p, ctypes.c_int64]


_open = False


def look():
    """Looks whether devices are open. Until then only products are offered: asking for each operation on vectors would
    take a tenth of the operation's time."""
    global _open
    _open = _open or _devices() > 0


def is_open():
    return _open


def is_present():
    """Whether the process runs under libsemcache."""
    return _sparse is not None


def slow_address(array):
    return array.__array_interface__["data"][0]


def fast_address(array):
    """The first member of an array behind the head of any object, as CPython lays out objects."""
    return _pointer_at(id(array) + HEAD).value


_pointer_at, HEAD = ctypes.c_void_p.from_address, object.__basicsize__
_probe = np.empty(1)
address = slow_address
if sys.implementation.name == "cpython" and fast_address(_probe) == slow_address(_probe):
    address = fast_address


def is_dense(array):
    """Whether devices can use the array as it lies in memory."""
    return type(array) is np.ndarray and array.dtype in TYPES and array.flags.c_contiguous and array.flags.aligned


def is_vector(array):
    """Whether operations on the elements of the array are offered. The array may have several dimensions."""
    return _open and is_dense(array) and array.ndim > 0 and array.size >= LEAST_ELEMENTS


def axpby(alpha, x, beta, y, w):
    """w := alpha x + beta y, or alpha x without y, if the devices compute; else False."""
    alpha, beta = complex(alpha), complex(beta)
    return _axpby(w.size, TYPES[w.dtype], Scalar(alpha.real, alpha.imag), address(x), Scalar(beta.real, beta.imag),
                  None if y is None else address(y), address(w)) == 1


def largest(x):
    """The largest absolute value of a contiguous array, if the devices compute; else None."""
    if x.dtype in REAL:
        return None
    result = ctypes.c_double()
    return x.dtype.type(result.value) if _largest(x.size, TYPES[x.dtype], address(x), result) == 1 else None


def dense_product(a, b):
    """a @ b for matrices (op, array), of which op is that of an array stored by rows, if the devices compute; else
    None."""
    (op_a, array_a), (op_b, array_b) = a, b
    m, k = array_a.shape if op_a == b"N" else array_a.shape[::-1]
    rows, n = array_b.shape if op_b == b"N" else array_b.shape[::-1]
    if array_a.dtype != array_b.dtype or k != rows or not m * n * k:
        return None
    result = np.empty((m, n), array_a.dtype)
    what = Product(ctypes.sizeof(Product), TYPES[result.dtype], op_a, op_b, m, n, k, ONE, ZERO, address(array_a),
                   address(array_b), address(result), array_a.shape[1], array_b.shape[1], n)
    return result if _product(ctypes.addressof(what)) == 1 else None


def describe(form, shape, start, index, values, **more):
    """The matrix in the form of the library, or None if the devices cannot use its arrays as they lie in memory."""
    for array in (start, index):
        if array is not None and (type(array) is not np.ndarray or array.dtype not in INTEGERS or
                                  not array.flags.c_contiguous or array.dtype != index.dtype):
            return None
    if type(values) is not np.ndarray or values.dtype not in TYPES or not values.flags.c_contiguous:
        return None
    return Arrays(ctypes.sizeof(Arrays), form, TYPES[values.dtype], INTEGERS[index.dtype], 0, *shape,
                  None if start is None else address(start), address(index), address(values), **more)


def product(arrays, op, columns, x, beta, y):
    """y := op(A) x + beta y, with matrices of `columns` columns stored by rows, if the devices compute; else False."""
    look()
    return arrays is not None and _sparse(ctypes.addressof(arrays), op, columns, ONE, address(x), columns, beta,
                                          address(y), columns) == 1


def solve(arrays, uplo, unit, x, y):
    """y := T^-1 x with a triangle of the matrix, if the devices compute; else False."""
    look()
    return arrays is not None and _solve(ctypes.addressof(arrays), b"N", uplo, unit, ONE, address(x), address(y)) == 1
# SPDX-License-Identifier: BSD-2-Clause
