"""Operators on vectors, as the solvers use them, that leave vectors on the devices.

A function does what its operator does. Vectors of one type and large enough are offered to the library; if the library
declines, NumPy computes the same expression as without semcache.
"""
import functools
import itertools
import operator

import numpy as np

from . import library


class Scaled:
    """A factor times a vector, not yet computed: an operand of + or -."""

    __slots__ = "factor", "vector"

    def __init__(self, factor, vector):
        self.factor, self.vector = factor, vector

    def value(self):
        return self.factor * self.vector


class Divided(Scaled):
    """A vector, or a multiple, divided by a number: a multiple for the devices, and a quotient for NumPy."""

    __slots__ = "dividend", "divisor"

    def __init__(self, dividend, divisor):
        factor, vector = term(dividend)
        Scaled.__init__(self, factor * (1 / divisor), vector)
        self.dividend, self.divisor = dividend, divisor

    def value(self):
        return plain(self.dividend) / self.divisor


class Key:
    def __getitem__(self, key):
        return key


key = Key()  # key[0, :] is the index of v[0, :]


def is_factor(value, dtype):
    """Whether value times a vector of this type has the same type."""
    kind = type(value)
    if kind is float or kind is int and abs(value) < 2**53:
        return True
    if kind is complex:
        return dtype in library.REAL
    return isinstance(value, np.generic) and (value.dtype == dtype or value.dtype == library.REAL.get(dtype))


def term(value):
    """(factor, vector) of an operand that can be offered, or None."""
    if isinstance(value, Scaled):
        return value.factor, value.vector
    return (1.0, value) if library.is_vector(value) else None


def plain(value):
    return value.value() if isinstance(value, Scaled) else value


def final(value):
    """The value of a whole expression."""
    if not isinstance(value, Scaled):
        return value
    result = np.empty_like(value.vector)
    return result if library.axpby(value.factor, value.vector, 0, None, result) else value.value()


def mul(a, b):
    if is_row(b, a):
        result = multiplied(a, np.diag(b[0].astype(a.dtype)))
        return a * b if result is None else result
    if library.is_vector(b) and is_factor(a, b.dtype):
        return Scaled(a, b)
    if library.is_vector(a) and is_factor(b, a.dtype):
        return Scaled(b, a)
    return plain(a) * plain(b)


def neg(a):
    return Scaled(-1.0, a) if library.is_vector(a) else -plain(a)


def is_divisor(value, dtype):
    """Whether multiplication by 1 / value can stand for a division: within rounding, and without infinities."""
    return is_factor(value, dtype) and LEAST_DIVISOR < abs(value) < MOST_DIVISOR


LEAST_DIVISOR, MOST_DIVISOR = 2.0**-100, 2.0**100  # also in single precision


def div(a, b):
    if library.is_vector(a.vector if isinstance(a, Scaled) else a) and is_divisor(b, term(a)[1].dtype):
        return Divided(a, b)
    if type(b) is np.ndarray and library.is_vector(a) and is_row(np.atleast_2d(b), a) and \
            np.all((LEAST_DIVISOR < abs(b)) & (abs(b) < MOST_DIVISOR)):
        result = multiplied(a, np.diag((1 / b).ravel().astype(a.dtype)))
        return a / b if result is None else result
    return plain(a) / plain(b)


def same(x, y):
    return x.dtype == y.dtype and x.shape == y.shape


def combined(a, b, sign):
    """a + sign b, or None."""
    left, right = term(a), term(b)
    if not left or not right or not same(left[1], right[1]) or left[1] is right[1]:
        return None
    result = np.empty_like(left[1])
    done = library.axpby(*left, sign * right[0], right[1], result)
    return result if done else None


def add(a, b):
    result = combined(a, b, 1)
    return plain(a) + plain(b) if result is None else result


def sub(a, b):
    result = combined(a, b, -1)
    return plain(a) - plain(b) if result is None else result


def updated(x, b, sign):
    """Whether x has become x + sign b."""
    right = term(b)
    return right is not None and library.is_vector(x) and same(x, right[1]) and x.flags.writeable and \
        not np.may_share_memory(x, right[1]) and library.axpby(sign * right[0], right[1], 1, x, x)


def iadd(x, b):
    return x if updated(x, b, 1) else operator.iadd(x, plain(b))


def isub(x, b):
    return x if updated(x, b, -1) else operator.isub(x, plain(b))


def scaled(x, factor):
    """Whether x has become factor x."""
    return library.is_vector(x) and is_factor(factor, x.dtype) and x.flags.writeable and \
        library.axpby(factor, x, 0, None, x)


def imul(x, b):
    return x if scaled(x, b) else operator.imul(x, plain(b))


def idiv(x, b):
    if library.is_vector(x) and is_divisor(b, x.dtype) and scaled(x, 1 / b):
        return x
    return operator.itruediv(x, plain(b))


def imul_iadd(x, factor, b):
    """x *= factor, then x += b."""
    right = term(b)
    if right is not None and library.is_vector(x) and same(x, right[1]) and is_factor(factor, x.dtype) and \
            x.flags.writeable and not np.may_share_memory(x, right[1]) and \
            library.axpby(*right, factor, x, x):
        return x
    return iadd(imul(x, factor), b)


def copied(x, b):
    """Whether x has become b."""
    return library.is_vector(x) and library.is_vector(b) and same(x, b) and x.flags.writeable and \
        not np.may_share_memory(x, b) and library.axpby(1, b, 0, None, x)


def part_of(container, index):
    """container[index] if that is a view of an array, else None."""
    parts = index if type(index) is tuple else (index,)
    if type(container) is np.ndarray and all(type(part) in (slice, int) for part in parts) and \
            container.ndim > sum(type(part) is int for part in parts):
        return container[index]
    return None


def at(change, container, index, value):
    """container[index] += value, and the same for -= and *=."""
    part = part_of(container, index)
    if not (library.is_vector(part) and CHANGES[change](part, value)):
        container[index] = change(container[index], plain(value))


CHANGES = {operator.iadd: lambda x, b: updated(x, b, 1), operator.isub: lambda x, b: updated(x, b, -1),
           operator.imul: scaled,
           operator.itruediv: lambda x, b: is_divisor(b, x.dtype) and scaled(x, 1 / b)}


def at_iadd(container, index, value):
    at(operator.iadd, container, index, value)


def at_isub(container, index, value):
    at(operator.isub, container, index, value)


def at_imul(container, index, value):
    at(operator.imul, container, index, value)


def at_idiv(container, index, value):
    at(operator.itruediv, container, index, value)


def put(value, container, index):
    """container[index] = value"""
    if not copied(part_of(container, index), value):
        container[index] = value


def copy_of(x):
    """A copy of x if the devices make one, else None."""
    if not library.is_vector(x):
        return None
    result = np.empty_like(x)
    return result if copied(result, x) else None


def copy(x):
    """x.copy()"""
    result = copy_of(x)
    return x.copy() if result is None else result


MOST_COLUMNS, COLUMNS_AT_ONCE = 6, 8


@functools.lru_cache(maxsize=None)
def signs(columns, dtype):
    """Matrices whose columns are all vectors of signs, up to the sign of the vector. The largest element of a row of
    x @ signs is the sum of the absolute values of the row of x."""
    every = np.array(list(itertools.product((1, -1), repeat=columns - 1)), dtype).reshape(-1, columns - 1)
    every = np.vstack([np.ones(len(every), dtype), every.T])
    return [np.ascontiguousarray(every[:, at:at + COLUMNS_AT_ONCE]) for at in range(0, every.shape[1], COLUMNS_AT_ONCE)]


def inf_norm(original, x):
    """original(x), the largest sum of the absolute values of a row. A row of a vector is an element."""
    result = None
    if library.is_vector(x) and x.dtype not in library.REAL and (x.ndim == 1 or x.shape[1:] == (1,)):
        result = library.largest(x)
    elif library.is_vector(x) and x.dtype not in library.REAL and x.ndim == 2 and x.shape[1] <= MOST_COLUMNS:
        result = 0
        for some in signs(x.shape[1], x.dtype):
            sums = multiplied(x, some)
            most = None if sums is None else library.largest(sums)
            if most is None or not np.isfinite(most):
                return original(x)
            result = max(result, most)
    return original(x) if result is None else result


# --- tall matrices ----------------------------------------------------------------------------------------------------


class Adjoint:
    """x.T.conj() of a large matrix, not yet computed: the left factor of a product."""

    __slots__ = ("array",)

    def __init__(self, array):
        self.array = array


def adjoint(x):
    return Adjoint(x) if library.is_vector(x) and x.ndim == 2 else x.T.conj()


def factor(x):
    """(op, array) for library.dense_product, or None. A small matrix may be copied."""
    if isinstance(x, Adjoint):
        return b"C", x.array
    if type(x) is not np.ndarray or x.ndim != 2 or x.dtype not in library.TYPES:
        return None
    if not x.flags.c_contiguous and x.size < library.LEAST_ELEMENTS:
        x = np.ascontiguousarray(x)
    if library.is_dense(x):
        return b"N", x
    return (b"T", x.T) if library.is_dense(x.T) else None


def is_tall(x):
    return isinstance(x, Adjoint) or \
        library.is_open() and type(x) is np.ndarray and x.ndim == 2 and x.size >= library.LEAST_ELEMENTS


def multiplied(a, b):
    """a @ b if the devices compute, else None."""
    if not (is_tall(a) or is_tall(b)):
        return None
    left, right = factor(a), factor(b)
    return library.dense_product(left, right) if left and right else None


def matmul(a, b):
    result = multiplied(a, b)
    return operator.matmul(a.array.T.conj() if isinstance(a, Adjoint) else a, b) if result is None else result


def dot(a, b):
    """np.dot(a, b)"""
    result = multiplied(a, b)
    return np.dot(a.array.T.conj() if isinstance(a, Adjoint) else a, b) if result is None else result


def matmul_to(x, y):
    """np.matmul(x, y, out=x)"""
    fits = type(x) is np.ndarray and x.flags.writeable and getattr(y, "shape", ()) == x.shape[1:] * 2
    result = multiplied(x, y) if fits else None
    if result is None:
        np.matmul(x, y, out=x)
    elif not copied(x, result):
        x[...] = result


def is_row(row, x):
    """Whether row * x multiplies each column of a tall matrix by a number, without a change of its type."""
    return type(row) is np.ndarray and library.is_vector(x) and x.ndim == 2 and row.shape == (1, x.shape[1]) and \
        (row.dtype == x.dtype or row.dtype == library.REAL.get(x.dtype))


def squares(x):
    """np.sum(x.conj() * x, 0): the diagonal of x.T.conj() @ x."""
    result = multiplied(adjoint(x), x) if is_tall(x) else None
    return np.sum(x.conj() * x, 0) if result is None else np.diagonal(result).copy()


def columns(x, mask):
    """x[:, mask]"""
    if library.is_vector(x) and x.ndim == 2 and type(mask) is np.ndarray and mask.dtype == bool and \
            mask.shape == x.shape[1:]:
        result = copy_of(x) if mask.all() else multiplied(x, np.eye(len(mask), dtype=x.dtype)[:, mask])
        if result is not None:
            return result
    return x[:, mask]


def conjugate(x):
    """x.conjugate(), of which the solvers only read the result."""
    return x if library.is_vector(x) and x.dtype not in library.REAL else x.conjugate()
# SPDX-License-Identifier: BSD-2-Clause
