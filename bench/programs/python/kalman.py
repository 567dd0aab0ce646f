"""A Kalman filter: products and solves of middling size, step after step."""
import numpy as np
from program import result, size, timed

n, seen, steps = size((1000, 200, 40), (400, 100, 30), (200, 50, 20))
rng = np.random.default_rng(1)
f = np.eye(n) + (rng.random((n, n)) - 0.5) * 0.1 / np.sqrt(n)
h = rng.random((seen, n)) / np.sqrt(n)
q, r = 0.01 * np.eye(n), 0.1 * np.eye(seen)
measured = rng.random((steps, seen))
x, p = np.zeros(n), np.eye(n)
with timed():
    for z in measured:
        x, p = f @ x, f @ p @ f.T + q
        gain = np.linalg.solve(h @ p @ h.T + r, h @ p).T
        x = x + gain @ (z - h @ x)
        p = p - gain @ h @ p
result("x", x, 1e-6)
result("p", np.diag(p), 1e-6)
# SPDX-License-Identifier: BSD-2-Clause
