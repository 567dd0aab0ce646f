"""A solver of SciPy on the 7-point Laplacian of a cube: prints seconds_per_step, the least time of MANY - FEW steps in
ROUNDS rounds, divided by MANY - FEW.

solvers_scipy.py SOLVER SIDE FEW MANY [ROUNDS]

SOLVER and its steps: cg, iterations; eigsh, restarts of ARPACK with 20 vectors; lobpcg, iterations with 4 vectors;
expm_multiply, units of time.
"""
import sys
import time
import warnings

import numpy as np
import scipy.sparse
import scipy.sparse.linalg as linalg

solver, side, few, many = sys.argv[1], *map(int, sys.argv[2:5])
n = side**3
diagonals = np.full((7, n), -1.0)
diagonals[3] = 6.1
a = scipy.sparse.dia_matrix((diagonals, [-side * side, -side, -1, 0, 1, side, side * side]), shape=(n, n)).tocsr()
warnings.simplefilter("ignore")  # few steps do not converge


def cg(steps):
    tolerance = {"rtol" if "rtol" in linalg.cg.__code__.co_varnames else "tol": 1e-14}
    return linalg.cg(a, np.ones(n), maxiter=steps, **tolerance)[0]


def eigsh(steps):
    try:
        return linalg.eigsh(a, k=4, ncv=20, v0=np.linspace(1, 2, n), maxiter=steps, tol=1e-14)[0]
    except linalg.ArpackNoConvergence as error:
        return error.eigenvalues


def lobpcg(steps):
    return linalg.lobpcg(a, np.random.RandomState(1).rand(n, 4), maxiter=steps, tol=1e-12)[0]


def expm_multiply(steps):
    return linalg.expm_multiply(a * -float(steps), np.ones(n))


def seconds(steps):
    begin = time.perf_counter()
    norm = np.linalg.norm(globals()[solver](steps))
    return time.perf_counter() - begin, norm


first, _ = seconds(1)
rounds = [(seconds(few)[0], *seconds(many)) for _ in range(int((sys.argv[5:] + ["3"])[0]))]
each = min((late - early) / (many - few) for early, late, _ in rounds)
print(f"scipy_{solver} n={n} seconds_per_step={each:.9f} first_call={first:.3f} most_steps={rounds[0][1]:.3f} "
      f"norm={rounds[0][2]:.9e}")
# SPDX-License-Identifier: BSD-2-Clause
