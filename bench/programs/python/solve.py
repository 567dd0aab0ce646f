"""numpy.linalg.solve of a general matrix with a few right sides."""
import numpy as np
from program import general, result, size, timed

n = size(10000, 4000, 1200)
a = general(n)
b = np.random.default_rng(2).random((n, 4))
with timed():
    x = np.linalg.solve(a, b)
result("x", x)
# SPDX-License-Identifier: BSD-2-Clause
