"""Training of a network of two layers in single precision, batch by batch, plain NumPy."""
import numpy as np
from program import result, size, timed

batch, inputs, hidden, outputs, steps = size((8192, 4096, 4096, 1024, 16), (2048, 2048, 2048, 512, 10),
                                             (512, 500, 500, 100, 8))
rng = np.random.default_rng(1)
data = rng.random((2 * batch, inputs), dtype=np.float32) - np.float32(0.5)
wanted = rng.random((2 * batch, outputs), dtype=np.float32)
w1 = (rng.random((inputs, hidden), dtype=np.float32) - np.float32(0.5)) / np.float32(inputs**0.5)
w2 = (rng.random((hidden, outputs), dtype=np.float32) - np.float32(0.5)) / np.float32(hidden**0.5)
losses = []
with timed():
    for step in range(steps):
        part = slice(step % 2 * batch, (step % 2 + 1) * batch)
        x = data[part]
        h = np.maximum(x @ w1, 0)
        error = h @ w2 - wanted[part]
        losses.append(float((error * error).mean()))
        back = (error @ w2.T) * (h > 0)
        w2 -= np.float32(0.1 / batch) * (h.T @ error)
        w1 -= np.float32(0.1 / batch) * (x.T @ back)
result("losses", losses, 1e-3)
# SPDX-License-Identifier: BSD-2-Clause
