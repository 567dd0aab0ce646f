"""Products of square matrices, read by NumPy, and a product of a transposed matrix."""
import numpy as np
from program import general, result, size, timed

n = size(8192, 4096, 800)
a, b = general(n, 1), general(n, 2)
with timed():
    c = a @ b
    sums = c.sum(axis=0)
    d = c @ b.T
    sums += d.sum(axis=1)
result("sums", sums)
# SPDX-License-Identifier: BSD-2-Clause
