"""A product of matrices in single precision, three times with an operand that NumPy changes between."""
import numpy as np
from program import general, result, size, timed

n = size(8192, 4096, 800)
a, b = general(n, 1).astype(np.float32), general(n, 2).astype(np.float32)
total = 0
with timed():
    for step in range(3):
        c = a @ b
        total += np.abs(c).sum(dtype=np.float64)
        b[step] *= 1.5
result("total", total, 1e-4)
# SPDX-License-Identifier: BSD-2-Clause
