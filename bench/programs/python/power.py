"""The power method in plain NumPy."""
import numpy as np
from program import result, size, timed

n, steps = size((20000, 100), (8000, 40), (2000, 30))
a = np.empty((n, n))
a[:] = np.abs(np.cos(np.arange(n)))
a[np.diag_indices(n)] += n
with timed():
    x = np.ones(n)
    for _ in range(steps):
        y = a @ x
        value = np.linalg.norm(y)
        x = y / value
result("value", value)
result("x", x)
# SPDX-License-Identifier: BSD-2-Clause
