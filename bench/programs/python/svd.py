"""numpy.linalg.svd of a square matrix and its approximation of rank 20."""
import numpy as np
from program import general, result, size, timed

a = general(size(3000, 1000, 500))
with timed():
    u, s, vh = np.linalg.svd(a)
    near = (u[:, :20] * s[:20]) @ vh[:20]
result("s", s)
result("near", np.linalg.norm(near))
# SPDX-License-Identifier: BSD-2-Clause
