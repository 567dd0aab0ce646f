"""Shared by the Python programs: the size of their problem, a clock, and the results compared by run.py.

The first argument of a program is full, quick or check: a 16-core host's work of seconds, of tenths, of milliseconds.
"""
import contextlib
import sys
import time

import numpy as np


def size(full, quick, check):
    """The size of the problem at the scale that the first argument names."""
    return {"full": full, "quick": quick, "check": check}[sys.argv[1] if len(sys.argv) > 1 else "full"]


@contextlib.contextmanager
def timed():
    """Adds the seconds that its block takes to the program's time."""
    start = time.perf_counter()
    yield
    print(f"seconds {time.perf_counter() - start:.6f}", flush=True)


def result(name, values, tolerance=1e-8):
    """Numbers that must be the same on every machine but for `tolerance`, relative to the largest of them."""
    values = np.ravel(values)
    values = values[:: max(1, values.size // 64)]
    if np.iscomplexobj(values):
        values = np.ravel([values.real, values.imag])
    print("result", name, tolerance, *(repr(float(value)) for value in values), flush=True)


def symmetric(n, seed=1):
    """A symmetric matrix whose eigenvalues are simple: random numbers in (-1/2, 1/2) beside a growing diagonal."""
    a = np.random.default_rng(seed).random((n, n)) - 0.5
    a += a.T
    a[np.diag_indices(n)] += np.linspace(0, n, n)
    return a


def positive(n, seed=1):
    """A symmetric positive definite matrix: its diagonal outweighs each row."""
    a = symmetric(n, seed)
    a[np.diag_indices(n)] += n
    return a


def general(n, seed=1):
    """A matrix of good condition: random numbers in (-1/2, 1/2), n on the diagonal."""
    a = np.random.default_rng(seed).random((n, n)) - 0.5
    a[np.diag_indices(n)] += n
    return a
# SPDX-License-Identifier: BSD-2-Clause
