"""scipy.sparse.linalg.eigsh (ARPACK): a few eigenvalues of a dense symmetric matrix, a product with a vector a step."""
import numpy as np
import scipy.sparse.linalg
from program import result, size, symmetric, timed

n = size(10000, 4000, 1200)
a = symmetric(n)
with timed():
    values, vectors = scipy.sparse.linalg.eigsh(a, k=6, which="LA", v0=np.ones(n), tol=1e-6)
result("values", np.sort(values), 1e-5)
# SPDX-License-Identifier: BSD-2-Clause
