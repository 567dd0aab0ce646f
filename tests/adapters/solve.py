"""Solves Poisson's equation on a square by a solver of SciPy: prints iterations, status and the error of the residual.

solve.py SOLVER SIDE MOST [FORMAT [TYPE]]
"""
import sys

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

solver, side, most = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
form, kind = (sys.argv[4:] + ["csr", "d"][len(sys.argv) - 4:])[:2]
one = scipy.sparse.diags([-1.0, 2.1, -1.0], [-1, 0, 1], shape=(side, side))
a = scipy.sparse.csr_matrix(scipy.sparse.kronsum(one, one)).astype(kind)
b = np.ones(side * side, dtype=kind) * (1 + 1j if kind in "FD" else 1)
a = a.asformat(form)
iterations = []
more = {"callback": lambda x: iterations.append(1)}
if solver == "gmres":
    more.update(restart=10, callback_type="pr_norm")
if solver == "lgmres":
    more["inner_m"] = 4
if solver in ("lsqr", "lsmr"):  # their iterations are part of the result
    limit = {"iter_lim" if solver == "lsqr" else "maxiter": most}
    x, status, count = getattr(scipy.sparse.linalg, solver)(a, b, **limit)[:3]
    iterations = range(count)
else:
    x, status = getattr(scipy.sparse.linalg, solver)(a, b, maxiter=most, **more)
print(len(iterations), status, x.dtype.char, "%.3e" % np.linalg.norm(x))
error = np.linalg.norm(a @ x - b) / np.linalg.norm(b)
print("%.8e" % error, file=sys.stderr)
# SPDX-License-Identifier: BSD-2-Clause
