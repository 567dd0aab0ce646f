"""scipy.linalg.expm of a general matrix."""
import numpy as np
import scipy.linalg
from program import result, size, timed

n = size(3000, 1200, 500)
a = (np.random.default_rng(1).random((n, n)) - 0.5) / np.sqrt(n) * 4
with timed():
    e = scipy.linalg.expm(a)
    sums = e.sum(axis=1)
result("sums", sums)
# SPDX-License-Identifier: BSD-2-Clause
