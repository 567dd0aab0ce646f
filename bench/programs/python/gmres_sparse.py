"""scipy.sparse.linalg.gmres of a sparse system: Poisson's equation with convection on a square."""
import numpy as np
import scipy.sparse
import scipy.sparse.linalg
from program import result, size, timed

side = size(1000, 400, 40)
one = scipy.sparse.diags([-1.3, 2.5, -0.7], [-1, 0, 1], shape=(side, side))
a = scipy.sparse.csr_matrix(scipy.sparse.kronsum(one, one))
with timed():
    x, status = scipy.sparse.linalg.gmres(a, np.ones(side * side), restart=20, maxiter=5)
result("x", x, 1e-4)
# SPDX-License-Identifier: BSD-2-Clause
