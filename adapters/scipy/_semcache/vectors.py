"""Operators on vectors, as the solvers use them, that leave vectors on the devices.

A function does what its operator does. Vectors of one type and large enough are offered to the library; if the library
declines, NumPy computes the same expression as without semcache.
"""
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
    """A vector divided by a number: a multiple for the devices, and a quotient for NumPy."""

    __slots__ = ("divisor",)

    def __init__(self, vector, divisor):
        Scaled.__init__(self, 1 / divisor, vector)
        self.divisor = divisor

    def value(self):
        return self.vector / self.divisor


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
    if library.is_vector(a) and is_divisor(b, a.dtype):
        return Divided(a, b)
    return plain(a) / plain(b)


def same(x, y):
    return x.dtype == y.dtype and x.size == y.size


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


def has_slice(index):
    return type(index) is slice or type(index) is tuple and any(type(part) is slice for part in index)


def at(change, container, index, value):
    """container[index] += value, and the same for -= and *=."""
    part = container[index] if type(container) is np.ndarray and has_slice(index) else None
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
    if not (type(container) is np.ndarray and has_slice(index) and copied(container[index], value)):
        container[index] = value


def copy(x):
    """x.copy()"""
    if library.is_vector(x):
        result = np.empty_like(x)
        if copied(result, x):
            return result
    return x.copy()


def conjugate(x):
    """x.conjugate(), of which the solvers only read the result."""
    return x if library.is_vector(x) and x.dtype not in library.REAL else x.conjugate()
# SPDX-License-Identifier: BSD-2-Clause
