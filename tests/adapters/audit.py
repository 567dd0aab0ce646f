"""The public functions of scipy.sparse.linalg that work with vectors of any length, each for a number of steps.

audit.py names                  prints the public functions of this SciPy that have no entry here
audit.py list                   prints the entries that this SciPy has
audit.py ENTRY SIDE STEPS [TYPE] runs an entry with Poisson's matrix on a square, and prints a few digits of the result

Few elements of a result are read: the reads of the program are the same for each number of steps.
"""
import sys
import types
import warnings

import numpy as np
import scipy.sparse
import scipy.sparse.linalg as linalg

# Functions that factor a matrix or return a sparse matrix, numbers and classes: no vector goes from step to step.
OTHER = ("aslinearoperator expm factorized inv is_sptriangular matrix_power norm spbandwidth spilu splu spsolve "
         "use_solver").split()


def krylov(function, **more):
    return lambda p: getattr(linalg, function)(p.a, p.b, maxiter=p.steps, **more)[0]


def least_squares(function, limit):
    return lambda p: getattr(linalg, function)(p.a, p.b, **{limit: p.steps})[0]


def arpack(function):
    def run(p):
        try:
            values = getattr(linalg, function)(p.a, k=4, v0=p.b, maxiter=p.steps, tol=1e-14)[function == "svds"]
        except linalg.ArpackNoConvergence as error:
            values = error.eigenvalues
        return np.sort(abs(values))

    return run


def exponential(start, **more):
    def run(p):
        times = {"start": 0, "stop": 0.25 * p.steps, "num": p.steps} if more.get("times") else {}
        return linalg.expm_multiply(-p.a if times else -p.a * (0.25 * p.steps), getattr(p, start), **times)

    return run


def preconditioned(p):
    lower = scipy.sparse.tril(p.a).tocsr()
    solve = linalg.LinearOperator(p.a.shape, lambda r: linalg.spsolve_triangular(lower, r), dtype=p.a.dtype)
    return linalg.gmres(p.a, p.b, M=solve, restart=5, maxiter=p.steps)[0]


ENTRIES = {
    **{name: krylov(name) for name in "bicg bicgstab cg cgs minres qmr tfqmr".split()},
    "gmres": krylov("gmres", restart=3), "lgmres": krylov("lgmres", inner_m=4), "gcrotmk": krylov("gcrotmk", m=6),
    "lsqr": least_squares("lsqr", "iter_lim"), "lsmr": least_squares("lsmr", "maxiter"),
    "eigsh": arpack("eigsh"), "eigs": arpack("eigs"), "svds": arpack("svds"),
    "svds lobpcg": lambda p: linalg.svds(p.a, k=4, solver="lobpcg", v0=p.b, maxiter=p.steps)[1],
    "lobpcg": lambda p: linalg.lobpcg(p.a, p.block, maxiter=p.steps, tol=1e-12)[0],
    "expm_multiply": exponential("b"), "expm_multiply block": exponential("block"),
    "expm_multiply times": exponential("b", times=True),
    "expm_multiply block times": exponential("block", times=True),
    "spsolve_triangular": preconditioned,
    "onenormest": lambda p: np.array([linalg.onenormest(p.a) for _ in range(p.steps)]),
    "funm_multiply_krylov": lambda p: linalg.funm_multiply_krylov(
        scipy.linalg.expm, -p.a, p.b, assume_a="her", restart_every_m=5, max_restarts=p.steps, rtol=1e-30),
}


def has(entry):
    return hasattr(linalg, entry.split()[0])


def public():
    return [name for name in linalg.__all__ if not isinstance(getattr(linalg, name), (type, types.ModuleType))]


def problem(side, steps, kind):
    one = scipy.sparse.diags([-1.0, 2.1, -1.0], [-1, 0, 1], shape=(side, side))
    a = scipy.sparse.csr_matrix(scipy.sparse.kronsum(one, one)).astype(kind)
    return types.SimpleNamespace(a=a, b=np.linspace(1, 2, side * side).astype(kind) * (1 + 1j if kind in "FD" else 1),
                                 block=np.random.RandomState(1).rand(side * side, 4).astype(kind), steps=steps)


warnings.simplefilter("ignore")  # few steps do not converge
if sys.argv[1] == "names":
    covered = {entry.split()[0] for entry in ENTRIES}
    print(*(name for name in public() if name not in covered and name not in OTHER))
elif sys.argv[1] == "list":
    print(*filter(has, ENTRIES), sep="\n")
else:
    result = ENTRIES[sys.argv[1]](problem(int(sys.argv[2]), int(sys.argv[3]), (sys.argv[4:] + ["d"])[0]))
    print(np.array2string(np.ravel(result)[:4], precision=5))
# SPDX-License-Identifier: BSD-2-Clause
