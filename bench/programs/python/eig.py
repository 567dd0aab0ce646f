"""numpy.linalg.eig of a general matrix, with eigenvectors."""
import numpy as np
from program import general, result, size, timed

n = size(1500, 600, 300)
a = general(n) + np.diag(np.linspace(0, n, n))
with timed():
    values, vectors = np.linalg.eig(a)
    lengths = (np.abs(vectors) ** 2).sum(axis=0)
result("values", np.sort(values.real), 1e-7)
result("lengths", lengths)
# SPDX-License-Identifier: BSD-2-Clause
