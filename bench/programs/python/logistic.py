"""Logistic regression by gradient descent in plain NumPy."""
import numpy as np
from program import result, size, timed

m, n, steps = size((200000, 2000, 50), (50000, 1000, 20), (10000, 300, 20))
rng = np.random.default_rng(1)
x = rng.random((m, n)) - 0.5
y = (x[:, 0] + x[:, 1] > 0).astype(float)
with timed():
    w = np.zeros(n)
    for _ in range(steps):
        p = 1 / (1 + np.exp(-(x @ w)))
        w -= 10 / m * (x.T @ (p - y))
result("w", w)
# SPDX-License-Identifier: BSD-2-Clause
