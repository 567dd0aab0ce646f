"""Conjugate gradients in plain NumPy: the matrix times a vector, the rest by ufuncs and dot."""
import numpy as np
from program import result, size, timed

n, steps = size((20000, 100), (8000, 40), (2000, 30))
a = np.add.outer(np.cos(np.arange(n)), np.cos(np.arange(n))) / n
a[np.diag_indices(n)] += np.linspace(1, 3, n)
b = np.ones(n)
with timed():
    x = np.zeros(n)
    r = b.copy()
    p = r.copy()
    square = r @ r
    for _ in range(steps):
        q = a @ p
        alpha = square / (p @ q)
        x += alpha * p
        r -= alpha * q
        square, before = r @ r, square
        if square < 1e-26:
            break
        p = r + square / before * p
result("x", x, 1e-6)
# SPDX-License-Identifier: BSD-2-Clause
