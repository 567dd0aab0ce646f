"""numpy.linalg.lstsq: a linear fit, by the singular value decomposition."""
import numpy as np
from program import result, size, timed

m, n = size((20000, 1000), (8000, 500), (2000, 250))
rng = np.random.default_rng(1)
a = rng.random((m, n)) - 0.5
b = a @ np.arange(n) + rng.random(m)
with timed():
    x, residual, rank, s = np.linalg.lstsq(a, b, rcond=None)
result("x", x)
result("s", s)
# SPDX-License-Identifier: BSD-2-Clause
