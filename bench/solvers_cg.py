"""SciPy's cg on the 7-point Laplacian of a cube: prints seconds_per_iteration, the least difference of 120 and 20
iterations in three rounds.

solvers_cg.py SIDE
"""
import sys
import time

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

side = int(sys.argv[1])
n = side**3
diagonals = np.full((7, n), -1.0)
diagonals[3] = 6.1
a = scipy.sparse.dia_matrix((diagonals, [-side * side, -side, -1, 0, 1, side, side * side]), shape=(n, n)).tocsr()
b = np.ones(n)
tolerance = {"rtol" if "rtol" in scipy.sparse.linalg.cg.__code__.co_varnames else "tol": 1e-14}


def seconds(iterations):
    begin = time.perf_counter()
    x, _ = scipy.sparse.linalg.cg(a, b, maxiter=iterations, **tolerance)
    norm = np.linalg.norm(x)
    return time.perf_counter() - begin, norm


first, _ = seconds(1)
rounds = [(seconds(20)[0], *seconds(120)) for _ in range(3)]
each = min((late - early) / 100 for early, late, _ in rounds)
print(f"scipy_cg n={n} seconds_per_iteration={each:.9f} first_call={first:.3f} norm={rounds[0][2]:.9e}")
# SPDX-License-Identifier: BSD-2-Clause
