"""Principal components by the covariance matrix, and the data in ten of them."""
import numpy as np
from program import result, size, timed

m, n = size((100000, 1000), (30000, 500), (10000, 200))
x = np.random.default_rng(1).random((m, n)) * np.linspace(1, 3, n)
with timed():
    centred = x - x.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred / (m - 1))
    scores = centred @ vectors[:, -10:]
    spread = scores.var(axis=0)
result("values", values)
result("spread", spread, 1e-6)
# SPDX-License-Identifier: BSD-2-Clause
