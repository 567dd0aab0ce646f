"""Seconds of processor time for sums of NumPy arrays, whose results are new arrays.

Usage: numpy_temporaries.py N [ROUNDS].  Knows nothing of semcache.  The product opens the devices.
"""
import sys
import time

import numpy as np

SUMS = 200


def main():
    n = int(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    a, b = np.zeros(n), np.ones(n)
    best = None
    m = np.ones((600, 600))
    if (m @ m)[0, 0] != 600:
        sys.exit("numpy_temporaries: wrong result")
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(SUMS):
            a + b
        seconds = (time.process_time() - start) / SUMS
        best = seconds if best is None else min(best, seconds)
    print(f"numpy n={n} best_seconds={best:.9f} ok")


main()
# SPDX-License-Identifier: BSD-2-Clause
