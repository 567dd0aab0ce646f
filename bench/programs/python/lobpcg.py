"""scipy.sparse.linalg.lobpcg: the largest eigenvalues of a dense symmetric matrix, 16 vectors at a time."""
import numpy as np
import scipy.sparse.linalg
from program import result, size, symmetric, timed

n, vectors, steps = size((8000, 16, 40), (3000, 16, 20), (1500, 8, 20))
a = symmetric(n)
start = np.random.default_rng(2).random((n, vectors))
with timed():
    values, x = scipy.sparse.linalg.lobpcg(a, start, largest=True, tol=1e-9, maxiter=steps)
result("positive", float((values > 0).all()))
result("largest", np.max(values), 1e-4)
# SPDX-License-Identifier: BSD-2-Clause
