"""numpy.linalg.eigh of a symmetric matrix, with eigenvectors."""
import numpy as np
from program import result, size, symmetric, timed

a = symmetric(size(4000, 1500, 600))
with timed():
    values, vectors = np.linalg.eigh(a)
    spread = (vectors * vectors).sum(axis=0)
result("values", values)
result("lengths", spread)
# SPDX-License-Identifier: BSD-2-Clause
