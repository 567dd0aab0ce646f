"""Many small matrices: products and solves of order 40 to 200 that belong on the host."""
import numpy as np
from program import general, result, size, timed

rounds = size(400, 100, 4)
matrices = [general(n, n) for n in (40, 80, 120, 200)]
total = 0
with timed():
    for _ in range(rounds):
        for a in matrices:
            b = a @ a.T
            total += np.linalg.solve(b, a[0]).sum() + np.linalg.cholesky(b)[-1, -1]
result("total", total)
# SPDX-License-Identifier: BSD-2-Clause
