"""numpy.linalg.qr of a square matrix."""
import numpy as np
from program import general, result, size, timed

a = general(size(5000, 2000, 800))
with timed():
    q, r = np.linalg.qr(a)
    lengths = (q * q).sum(axis=0)
result("diagonal", np.abs(np.diag(r)))
result("lengths", lengths)
# SPDX-License-Identifier: BSD-2-Clause
