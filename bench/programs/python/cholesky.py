"""numpy.linalg.cholesky of a positive definite matrix; NumPy reads the whole factor."""
import numpy as np
from program import positive, result, size, timed

a = positive(size(10000, 4000, 1200))
with timed():
    factor = np.linalg.cholesky(a)
    sums = factor.sum(axis=0)
result("sums", sums)
# SPDX-License-Identifier: BSD-2-Clause
