"""scipy.sparse.linalg.cg of a sparse system: Poisson's equation on a square."""
import numpy as np
import scipy.sparse
import scipy.sparse.linalg
from program import result, size, timed

side, steps = size((1500, 100), (500, 50), (40, 20))
one = scipy.sparse.diags([-1.0, 2.1, -1.0], [-1, 0, 1], shape=(side, side))
a = scipy.sparse.csr_matrix(scipy.sparse.kronsum(one, one))
with timed():
    x, status = scipy.sparse.linalg.cg(a, np.ones(side * side), maxiter=steps)
result("x", x, 1e-4)
# SPDX-License-Identifier: BSD-2-Clause
