"""Lloyd's k-means in plain NumPy: distances by a product, new centres by a product with the matrix of memberships."""
import numpy as np
from program import result, size, timed

m, n, k, steps = size((200000, 100, 100, 10), (50000, 50, 50, 8), (20000, 50, 50, 5))
rng = np.random.default_rng(1)
x = rng.random((k, n))[rng.integers(0, k, m)] * 10 + rng.random((m, n))
with timed():
    centres = x[:k].copy()
    for _ in range(steps):
        distances = (centres * centres).sum(axis=1) - 2 * (x @ centres.T)
        nearest = distances.argmin(axis=1)
        members = np.zeros((m, k))
        members[np.arange(m), nearest] = 1
        centres = (members.T @ x) / np.maximum(members.sum(axis=0), 1)[:, None]
result("centres", centres)
# SPDX-License-Identifier: BSD-2-Clause
