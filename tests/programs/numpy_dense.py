# NumPy: products of every type and layout, views, and the decompositions of numpy.linalg. The output does not depend on
# rounding.
import numpy as np

random = np.random.default_rng(1)


def matrix(rows, columns, dtype):
    a = random.standard_normal((rows, columns))
    if np.issubdtype(dtype, np.complexfloating):
        a = a + 1j * random.standard_normal((rows, columns))
    return a.astype(dtype)


def near(what, x, y, tolerance=1e-9):
    error = np.linalg.norm(x - y) / np.linalg.norm(y)
    print(what, "ok" if error < tolerance else "WRONG: %g" % error)


for dtype in np.float32, np.float64, np.complex64, np.complex128:
    tolerance = 1e-4 if np.finfo(dtype).bits == 32 else 1e-12
    name = np.dtype(dtype).name
    a, b = matrix(600, 500, dtype), matrix(500, 300, dtype)
    exact = np.einsum("ik,kj->ij", a.astype(np.complex128), b.astype(np.complex128))
    near(name + " a @ b", a @ b, exact, tolerance)
    near(name + " by columns", np.asfortranarray(a) @ b, exact, tolerance)
    near(name + " (b' a')'", (b.T @ a.T).T, exact, tolerance)
    near(name + " a' a", a.T @ a, a.T.copy() @ a, tolerance)
    near(name + " views", a[3:, 1:400] @ b[1:400, ::2], a[3:, 1:400].copy() @ b[1:400, ::2].copy(), tolerance)
    near(name + " a @ x", a @ b[:, 0], exact[:, 0], tolerance)
    near(name + " vdot", np.vdot(a, a), np.linalg.norm(a.astype(np.complex128)) ** 2, tolerance)
    a[:, 7] = 0  # the CPU writes between calls
    near(name + " after a write", a @ b, np.einsum("ik,kj->ij", a, b), tolerance)
s = matrix(400, 400, np.float64)
s = s @ s.T + 400 * np.eye(400)
near("solve", s @ np.linalg.solve(s, np.ones(400)), np.ones(400))
lower = np.linalg.cholesky(s)
near("cholesky", lower @ lower.T, s)
u, w, v = np.linalg.svd(s)
near("svd", (u * w) @ v, s)
w, v = np.linalg.eigh(s)
near("eigh", s @ v, v * w)
w, v = np.linalg.eig(s + np.triu(s))
near("eig", (s + np.triu(s)) @ v, v * w)
q, r = np.linalg.qr(s)
near("qr", q @ r, s)
near("inv", np.linalg.inv(s) @ s, np.eye(400))
near("lstsq", np.linalg.lstsq(s[:, :300], s @ np.ones(400), rcond=None)[0],
     np.linalg.solve(s[:, :300].T @ s[:, :300], s[:, :300].T @ (s @ np.ones(400))))
# SPDX-License-Identifier: BSD-2-Clause
