"""NumPy's a @ b for fresh n x n arrays, each product until every page of its result can be read, and checked.

Usage: numpy_matmul.py N [ROUNDS].  Knows nothing of semcache.  The first product, small, opens the devices; the arrays
of earlier rounds are kept, so that each round has memory that was never used before.
"""
import sys
import time

import numpy as np


def array(rng, n):
    """A dense array of little cost: equal rows but for the first column."""
    a = np.empty((n, n))
    a[:] = rng.random(n)
    a[:, 0] = np.arange(n)
    return a


def main():
    n = int(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    rng = np.random.default_rng(1)
    kept = [np.ones((2048, 2048)) @ np.ones((2048, 2048))]
    best = None
    for i in range(rounds):
        a, b = array(rng, n), array(rng, n)
        start = time.perf_counter()
        c = a @ b
        c[:, ::512].sum()
        seconds = time.perf_counter() - start
        best = seconds if best is None else min(best, seconds)
        rows = rng.integers(0, n, 20)
        if not np.allclose(c[rows, -1], [a[r] @ b[:, -1] for r in rows]):
            sys.exit("numpy_matmul: wrong result")
        print(f"numpy n={n} round={i} seconds={seconds:.6f}")
        kept += [a, b, c]
    print(f"numpy n={n} best_seconds={best:.6f} ok")


main()
# SPDX-License-Identifier: BSD-2-Clause
