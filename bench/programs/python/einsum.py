"""numpy.einsum: the change of basis of a tensor of four indices, as chemists do."""
import numpy as np
from program import result, size, timed

n = size(100, 60, 32)
rng = np.random.default_rng(1)
tensor = rng.random((n, n, n, n))
c = (rng.random((n, n)) - 0.5) / np.sqrt(n)
with timed():
    moved = np.einsum("ip,jq,ijkl,kr,ls->pqrs", c, c, tensor, c, c, optimize=True)
    sums = np.einsum("pqpq->pq", moved)
result("sums", sums)
# SPDX-License-Identifier: BSD-2-Clause
