"""A pool of processes on one machine: products and solves in each, the matrix from the parent.

pool.py SCALE fork|spawn PROCESSES
"""
import multiprocessing
import sys

import numpy as np
from program import general, result, size, timed


def work(task):
    n, seed = task
    a = general(n, seed)
    b = a @ a.T
    return float(np.linalg.solve(b, a[0]).sum() + np.abs(a @ b).max())


if __name__ == "__main__":
    n = size(3000, 1500, 250)
    processes = int(sys.argv[3])
    parent = general(n) @ general(n, 2)
    with timed():
        with multiprocessing.get_context(sys.argv[2]).Pool(processes) as pool:
            values = pool.map(work, [(n, seed) for seed in range(2 * processes)], chunksize=1)
    result("values", values)
    result("parent", parent.sum(axis=0))
# SPDX-License-Identifier: BSD-2-Clause
