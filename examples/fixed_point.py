"""The fixed point X = tanh(A X + B) of NumPy arrays that stay on a device: NumPy's product by the BLAS, and an own
kernel of CuPy or Numba on the same arrays.

    semcache run python3 fixed_point.py [numpy|cupy|numba [ORDER [STEPS]]]

`numpy` (default) computes the kernel's step on the host and on emulated devices.  The program checks its answer, and
prints the bytes that all steps but the first have moved.
"""
import os
import sys

import numpy as np
import semcache

os.environ.setdefault("CUPY_CUDA_ARRAY_INTERFACE_SYNC", "0")  # the kernel runs on the stream of its arrays


def by_numpy(place, y, b, x):
    np.tanh(y + b, out=x)


def with_cupy():
    import cupy

    kernel = cupy.ElementwiseKernel("float64 y, float64 b", "float64 x", "x = tanh(y + b)", "fixed_point")

    def by_cupy(place, y, b, x):
        with cupy.cuda.Device(place.device), cupy.cuda.ExternalStream(place.stream, place.device):
            kernel(cupy.asarray(y), cupy.asarray(b), cupy.asarray(x))

    return by_cupy


def with_numba():
    import math

    from numba import cuda

    @cuda.jit
    def kernel(y, b, x):
        i = cuda.grid(1)
        if i < x.size:
            at = i // x.shape[1], i % x.shape[1]
            x[at] = math.tanh(y[at] + b[at])

    def by_numba(place, y, b, x):
        with cuda.gpus[place.device]:
            arrays = [cuda.as_cuda_array(array, sync=False) for array in (y, b, x)]
            kernel[(x.shape[0] * x.shape[1] + 255) // 256, 256, cuda.external_stream(place.stream)](*arrays)

    return by_numba


def moved():
    totals = semcache.statistics()
    return np.array([totals["bytes_h2d"], totals["bytes_d2h"]])


def main(package="numpy", order="4000", steps="30"):
    n = int(order)
    kernel = {"numpy": lambda: None, "cupy": with_cupy, "numba": with_numba}[package]()
    a = np.random.default_rng(1).random((n, n)) / n  # the map contracts: a row's sum is about 1/2
    b, x, y = np.linspace(-1, 1, n * n).reshape(n, n), np.zeros((n, n)), np.empty((n, n))
    semcache.device_count()
    for step in range(int(steps)):
        np.matmul(a, x, out=y)  # np.dot would clear y first, and so fetch it
        device = semcache.run(by_numpy, semcache.read(y), semcache.read(b), semcache.write(x), kernel=kernel)
        if step == 0:
            before = moved()
    up, down = moved() - before
    some = x[:, ::97].copy()  # the first touch fetches x
    residual = float(np.abs(some - np.tanh(np.einsum("ij,jk", a, some) + b[:, ::97])).max())
    print(f"{package} on {'the host' if device == semcache.HOST else f'device {device}'}: residual {residual:.1e}; "
          f"moved by further steps: to devices {up}, to the host {down}", "ok" if residual < 1e-7 else "WRONG")
    return residual >= 1e-7


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
# SPDX-License-Identifier: BSD-2-Clause
