"""numpy.linalg.inv of a general matrix."""
import numpy as np
from program import general, result, size, timed

a = general(size(6000, 2500, 900))
with timed():
    inverse = np.linalg.inv(a)
    sums = inverse.sum(axis=1)
result("sums", sums)
# SPDX-License-Identifier: BSD-2-Clause
