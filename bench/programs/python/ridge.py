"""Ridge regression for five penalties: the normal equations once, a solve for each."""
import numpy as np
from program import result, size, timed

m, n = size((100000, 2000), (30000, 1000), (8000, 300))
rng = np.random.default_rng(1)
x = rng.random((m, n)) - 0.5
y = x @ np.sin(np.arange(n)) + rng.random(m)
fits = []
with timed():
    gram, right = x.T @ x, x.T @ y
    for penalty in 0.1, 1, 10, 100, 1000:
        w = np.linalg.solve(gram + penalty * np.eye(n), right)
        fits.append(np.linalg.norm(y - x @ w))
result("fits", fits)
# SPDX-License-Identifier: BSD-2-Clause
