"""With CuPy on a CUDA device: the memory of a token is not reused before the program's kernel has read it."""
import os

os.environ["CUPY_CUDA_ARRAY_INTERFACE_SYNC"] = "0"

import cupy
import numpy as np
import semcache

SIZE, CYCLES = 1 << 20, 300_000_000  # cycles: about 0.2 s of a GPU
SPIN = 'extern "C" __global__ void spin(long long n) { long long t = clock64(); while (clock64() - t < n); }'
spin = cupy.RawKernel(SPIN, "spin")
for value in range(3):
    x, y = np.full(SIZE, float(value)), np.full(SIZE, -1.0)
    copy = cupy.zeros(SIZE)
    semcache.Region(x).prefetch(0)
    with semcache.acquire(semcache.read(x), device=0) as (a,):
        with cupy.cuda.ExternalStream(a.stream):
            spin((1,), (1,), (np.int64(CYCLES),))
            cupy.copyto(copy, cupy.asarray(a))
    semcache.Region(y).prefetch(0)  # to memory as large as the token's was
    cupy.cuda.Device(0).synchronize()
    assert (copy == value).all(), value
# SPDX-License-Identifier: BSD-2-Clause
