"""A Gaussian process: the likelihood for four widths of the kernel, predictions with the best width."""
import numpy as np
import scipy.linalg
from program import result, size, timed

n, tests = size((6000, 1000), (2500, 500), (1000, 100))
rng = np.random.default_rng(1)
x, points = rng.random((n, 5)), rng.random((tests, 5))
y = np.sin(4 * x[:, 0]) + x[:, 1] + 0.1 * rng.random(n)


def kernel(a, b, width):
    squares = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1) - 2 * (a @ b.T)
    return np.exp(-np.maximum(squares, 0) / (2 * width * width))


likelihoods = []
with timed():
    for width in 0.3, 0.6, 1.0, 1.5:
        factor = scipy.linalg.cho_factor(kernel(x, x, width) + 0.01 * np.eye(n), lower=True)
        weights = scipy.linalg.cho_solve(factor, y)
        likelihoods.append(-0.5 * (y @ weights) - np.log(np.diag(factor[0])).sum())
    across = kernel(points, x, width)
    mean = across @ weights
    variance = 1 - (across * scipy.linalg.cho_solve(factor, across.T).T).sum(axis=1)
result("likelihoods", likelihoods, 1e-6)
result("mean", mean, 1e-6)
result("variance", variance, 1e-4)
# SPDX-License-Identifier: BSD-2-Clause
