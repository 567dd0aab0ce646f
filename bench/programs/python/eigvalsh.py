"""numpy.linalg.eigvalsh: eigenvalues of a symmetric matrix."""
import numpy as np
from program import result, size, symmetric, timed

a = symmetric(size(4000, 1500, 600))
with timed():
    values = np.linalg.eigvalsh(a)
result("values", values)
# SPDX-License-Identifier: BSD-2-Clause
