"""Eigenvalues, singular values and the exponential of Poisson's matrix on a square by SciPy.

Prints the products and the values, and on stderr a number for the bits of the values.

spectral.py SOLVER SIDE STEPS [TYPE]
"""
import sys
import warnings
import zlib

import numpy as np
import scipy.sparse
import scipy.sparse.linalg as linalg

solver, side, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
kind = (sys.argv[4:] + ["d"])[0]
warnings.simplefilter("ignore")  # few steps do not converge
one = scipy.sparse.diags([-1.0, 2.1, -1.0], [-1, 0, 1], shape=(side, side))
matrix = scipy.sparse.csr_matrix(scipy.sparse.kronsum(one, one)).astype(kind)
size = side * side
products = 0


class Counted(linalg.LinearOperator):
    """The matrix, which is its own adjoint."""

    def __init__(self):
        super().__init__(matrix.dtype, matrix.shape)

    def _matmat(self, x):
        global products
        products += 1
        return matrix @ x

    _matvec = _matmat

    def _adjoint(self):
        return self


random = np.random.RandomState(1)
start = (1 + random.rand(size)).astype(kind) * (1 + 1j if kind in "FD" else 1)
many = random.rand(size, 4).astype(kind)
vectors = None
if solver in ("eigsh", "eigs", "svds"):
    # Few restarts reach no tolerance: runs that are compared make the products of all of their restarts.
    try:
        values = getattr(linalg, solver)(Counted(), k=4, v0=start, maxiter=steps,
                                         tol=1e-14 if steps < 100 else 1e-4)[solver == "svds"]
    except linalg.ArpackNoConvergence as error:
        values = error.eigenvalues
elif solver in ("lobpcg", "lobpcg_all"):
    more = {"B": scipy.sparse.diags([np.linspace(1, 2, size)], [0]).tocsr().astype(kind),
            "M": scipy.sparse.diags([np.linspace(2, 1, size)], [0]).tocsr().astype(kind),
            "Y": random.rand(size, 2).astype(kind)} if solver == "lobpcg_all" else {}
    values, vectors = linalg.lobpcg(Counted(), many, maxiter=steps, tol=1e-12, **more)
elif solver == "expm":
    values = np.linalg.norm(linalg.expm_multiply(-matrix * (0.25 * steps), start))
elif solver == "expm_block":
    values = np.linalg.norm(linalg.expm_multiply(-matrix * (0.25 * steps), many), axis=0)
else:
    values = np.linalg.norm(linalg.expm_multiply(-matrix, start, start=0, stop=0.25 * steps, num=steps), axis=-1)
digits = 3 if kind in "fF" else 6
print(products, np.array2string(np.sort(np.real(np.atleast_1d(values))), precision=digits, suppress_small=True))
if vectors is not None:
    print("%.3g" % np.linalg.norm(np.abs(vectors)))
print(zlib.crc32(np.ascontiguousarray(values).tobytes()), file=sys.stderr)
# SPDX-License-Identifier: BSD-2-Clause
