"""scipy.sparse.linalg.gmres of a dense system."""
import numpy as np
import scipy.sparse.linalg
from program import result, size, timed

n = size(12000, 5000, 1500)
a = np.random.default_rng(1).random((n, n)) / np.sqrt(n)
a[np.diag_indices(n)] += 20 + np.arange(n) % 40
with timed():
    x, status = scipy.sparse.linalg.gmres(a, np.ones(n), restart=30, maxiter=10)
result("status", status)
result("x", x, 1e-4)
# SPDX-License-Identifier: BSD-2-Clause
